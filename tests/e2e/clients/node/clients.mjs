// Node's clients do real tasks with a real server. Usage: node clients.mjs PLAIN_URL TOOLS_URL
// TOOLS_URL is a server whose template teaches calls of tools. ../node_clients.py starts both.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';

import {createOpenAICompatible} from '@ai-sdk/openai-compatible';
import {HumanMessage, ToolMessage} from '@langchain/core/messages';
import {tool as langchainTool} from '@langchain/core/tools';
import {ChatOpenAI} from '@langchain/openai';
import {generateText, isStepCount, Output, streamText, tool} from 'ai';
import OpenAI from 'openai';
import {zodResponseFormat, zodTextFormat} from 'openai/helpers/zod';
import {z} from 'zod';

const [plain, tools] = process.argv.slice(2);
const QUESTION = 'What is the capital of France?';
const DESCRIBE = 'Describe a person.';
const WEATHER = 'What is the weather in Paris tomorrow?';
const Person = z.object({name: z.string().max(40), age: z.number().int().min(0).max(120), pet: z.enum(['cat', 'dog', 'none'])});
const Place = z.object({city: z.enum(['Paris', 'Rome']), day: z.enum(['today', 'tomorrow'])});
const PLACE = {type: 'function', function: {name: 'get_weather', parameters: z.toJSONSchema(Place)}};
const tasks = [];
const task = (client, sentence, run) => tasks.push({client, sentence, run});
const model = {};

function openai(url, fields = {}) {
  return new OpenAI({baseURL: url, apiKey: 'unused', maxRetries: 0, ...fields});
}

task('openai', 'lists models', async () => {
  const listed = [];
  for await (const one of openai(plain).models.list()) listed.push(one.id);
  assert.deepEqual(listed, [model.plain]);
});

task('openai', 'chats whole and streamed with the same words', async () => {
  const fields = {model: model.plain, messages: [{role: 'user', content: QUESTION}], temperature: 0, max_tokens: 24};
  const whole = await openai(plain).chat.completions.create(fields);
  assert.match(whole.choices[0].message.content, /Paris/);
  const stream = await openai(plain).chat.completions.create({...fields, stream: true, stream_options: {include_usage: true}});
  let words = '', usage;
  for await (const chunk of stream) {
    words += chunk.choices[0]?.delta.content ?? '';
    usage = chunk.usage ?? usage;
  }
  assert.equal(words, whole.choices[0].message.content);
  assert.equal(usage.total_tokens, whole.usage.total_tokens);
});

task('openai', 'aborts a stream', async () => {
  const stream = await openai(plain).chat.completions.create({
    model: model.plain, messages: [{role: 'user', content: 'Count to a thousand.'}], stream: true, max_tokens: 2000,
    temperature: 0,
  });
  let chunks = 0;
  for await (const _ of stream) if (++chunks === 5) break;
  assert.equal(chunks, 5);
});

task('openai', 'parses the object that it asked for', async () => {
  const answer = await openai(plain).chat.completions.parse({
    model: model.plain, messages: [{role: 'user', content: DESCRIBE}], max_tokens: 200, temperature: 0,
    response_format: zodResponseFormat(Person, 'person'),
  });
  Person.parse(answer.choices[0].message.parsed);
});

task('openai', 'runs a tool and answers with its result', async () => {
  const asked = [];
  const runner = openai(tools).chat.completions.runTools({
    model: model.tools, messages: [{role: 'user', content: WEATHER}], temperature: 0, max_tokens: 100,
    tool_choice: {type: 'function', function: {name: 'get_weather'}}, stream: true,
    tools: [{...PLACE, function: {...PLACE.function, parse: JSON.parse, function: (place) => asked.push(place) && 'rain'}}],
  });
  await runner.done();
  Place.parse(asked[0]);
  assert.equal(runner.messages.at(-1).role, 'tool');
  const told = await openai(tools).chat.completions.create({
    model: model.tools, messages: runner.messages, tools: [PLACE], tool_choice: 'none', temperature: 0, max_tokens: 24,
  });
  assert.ok(told.choices[0].message.content);
});

task('openai', 'responds whole, streamed and parsed', async () => {
  const fields = {model: model.plain, input: QUESTION, temperature: 0, max_output_tokens: 24, store: false};
  const whole = await openai(plain).responses.create(fields);
  assert.match(whole.output_text, /Paris/);
  const stream = openai(plain).responses.stream(fields);
  let words = '';
  stream.on('response.output_text.delta', (event) => { words += event.delta; });
  const final = await stream.finalResponse();
  assert.equal(words, whole.output_text);
  assert.equal(final.usage.output_tokens, whole.usage.output_tokens);
  const parsed = await openai(plain).responses.parse({
    ...fields, input: DESCRIBE, max_output_tokens: 200, text: {format: zodTextFormat(Person, 'person')},
  });
  Person.parse(parsed.output_parsed);
});

task('openai', 'raises the error that it has for each mistake', async () => {
  const ask = (fields) => openai(plain).chat.completions.create({
    model: model.plain, messages: [{role: 'user', content: QUESTION}], ...fields,
  });
  await assert.rejects(ask({max_tokens: -1}), OpenAI.BadRequestError);
  await assert.rejects(ask({model: 'gpt-4o'}), OpenAI.NotFoundError);
  await assert.rejects(
      ask({messages: [{role: 'user', content: 'word '.repeat(40_000)}]}),
      (error) => error instanceof OpenAI.BadRequestError && error.code === 'context_length_exceeded');
});

function aisdk(url, name) {
  return createOpenAICompatible({
    name: 'slipstream', baseURL: url, apiKey: 'unused', includeUsage: true, supportsStructuredOutputs: true,
  })(name);
}

task('@ai-sdk/openai-compatible', 'generates and streams a text with the same words', async () => {
  const fields = {model: aisdk(plain, model.plain), prompt: QUESTION, temperature: 0, maxOutputTokens: 24, maxRetries: 0};
  const whole = await generateText(fields);
  assert.match(whole.text, /Paris/);
  const stream = streamText(fields);
  let words = '';
  for await (const part of stream.textStream) words += part;
  assert.equal(words, whole.text);
  assert.equal((await stream.usage).outputTokens, whole.usage.outputTokens);
});

task('@ai-sdk/openai-compatible', 'generates and streams an object of a schema', async () => {
  const fields = {
    model: aisdk(plain, model.plain), prompt: DESCRIBE, temperature: 0, maxOutputTokens: 200, maxRetries: 0,
    output: Output.object({schema: Person}),
  };
  Person.parse((await generateText(fields)).output);
  const stream = streamText(fields);
  let parts = 0;
  for await (const _ of stream.partialOutputStream) ++parts;
  Person.parse(await stream.output);
  assert.ok(parts > 1, `${parts} parts`);
});

task('@ai-sdk/openai-compatible', 'runs a tool whole and streamed, and goes on', async () => {
  const places = [];
  const get_weather = tool({inputSchema: Place, execute: async (place) => { places.push(place); return 'rain'; }});
  const fields = {
    model: aisdk(tools, model.tools), prompt: WEATHER, temperature: 0, maxOutputTokens: 60, maxRetries: 0,
    tools: {get_weather}, toolChoice: {type: 'tool', toolName: 'get_weather'}, stopWhen: isStepCount(2),
    prepareStep: ({stepNumber}) => stepNumber > 0 ? {toolChoice: 'none'} : {},
  };
  const whole = await generateText(fields);
  assert.equal(whole.steps.length, 2);
  assert.ok(whole.text, 'the second step says something');
  const stream = streamText(fields);
  await stream.consumeStream();
  assert.ok(places.length >= 2, JSON.stringify(places));
  assert.equal(await stream.text, whole.text);
});

task('@ai-sdk/openai-compatible', 'knows an error', async () => {
  await assert.rejects(
      generateText({model: aisdk(plain, 'gpt-4o'), prompt: QUESTION, maxRetries: 0}),
      (error) => error.statusCode === 404 && /gpt-4o/.test(error.message));
});

function langchain(url, name, fields) {
  return new ChatOpenAI({model: name, apiKey: 'unused', temperature: 0, maxRetries: 0, configuration: {baseURL: url}, ...fields});
}

task('@langchain/openai', 'invokes and streams with the same words', async () => {
  const chat = langchain(plain, model.plain, {maxTokens: 24});
  const whole = await chat.invoke([new HumanMessage(QUESTION)]);
  assert.match(whole.content, /Paris/);
  let words = '';
  for await (const part of await chat.stream(QUESTION)) words += part.content;
  assert.equal(words, whole.content);
});

task('@langchain/openai', 'gets structured output', async () => {
  for (const method of ['jsonSchema', 'functionCalling']) {
    const chat = langchain(tools, model.tools, {maxTokens: 200}).withStructuredOutput(Person, {method, name: 'person'});
    Person.parse(await chat.invoke(DESCRIBE));
  }
});

task('@langchain/openai', 'calls a tool and answers with its result', async () => {
  const weather = langchainTool(async ({city}) => `It rains in ${city}.`, {name: 'get_weather', description: 'Tells it.', schema: Place});
  const chat = langchain(tools, model.tools, {maxTokens: 60});
  const asked = await chat.bindTools([weather], {tool_choice: 'get_weather'}).invoke(WEATHER);
  Place.parse(asked.tool_calls[0].args);
  const result = await weather.invoke(asked.tool_calls[0]);
  assert.ok(result instanceof ToolMessage);
  const told = await chat.bindTools([weather], {tool_choice: 'none'}).invoke([new HumanMessage(WEATHER), asked, result]);
  assert.ok(told.content);
});

function versionOf(client) {
  return JSON.parse(readFileSync(new URL(`node_modules/${client}/package.json`, import.meta.url))).version;
}

for (const [name, url] of Object.entries({plain, tools})) model[name] = (await openai(url).models.list()).data[0].id;
let failed = 0;
for (const {client, sentence, run} of tasks) {
  let result = 'passed';
  try {
    await run();
  } catch (error) {  // any: the next task is tried, too
    result = `FAILED: ${error.name}: ${error.message.replace(/\s+/g, ' ').slice(0, 600)}`;
    ++failed;
  }
  const shown = client === 'openai' ? 'openai (node)' : client;
  console.log(`${shown.padEnd(25)} ${versionOf(client).padEnd(8)} ${sentence.padEnd(66)} ${result}`);
}
process.exit(failed ? 1 : 0);
