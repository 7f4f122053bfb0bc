// Reads server-sent events: pure, so that tests run it without a browser.

// Feed it text as it arrives; it gives the data of each event that has become whole. Comments and
// fields other than `data` are skipped. A line may end in LF, CRLF or CR, as the standard allows.
export class EventReader {
  #rest = "";
  #data = [];

  feed(text) {
    const events = [];
    // A CR at the very end may be half of a CRLF: it waits for what follows.
    const whole = this.#rest + text;
    const held = whole.endsWith("\r") ? 1 : 0;
    const lines = whole.slice(0, whole.length - held).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() + (held ? "\r" : "");
    for (const line of lines) {
      if (line === "") this.#end(events);
      else if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5));
    }
    return events;
  }

  #end(events) {
    if (this.#data.length > 0) events.push(this.#data.join("\n"));
    this.#data = [];
  }
}
