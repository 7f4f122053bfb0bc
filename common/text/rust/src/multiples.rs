//! What `multipleOf` of a JSON schema costs. The library follows a number by its remainder, so a
//! divisor needs as many states as it is large, which it counts nowhere, and several at one place need
//! as many as their least common multiple, which it computes in 32 bits.

use serde_json::{Deserializer, Value};

// 0.2 s of compiling, and some 30 MB of each sequence, at worst.
const STATES_MAX: u128 = 30_000;
const DECIMALS_MAX: u32 = 9; // the library's powers of ten have 32 bits

fn too_many() -> String {
    format!(
        "its values of `multipleOf` need more than {STATES_MAX} states: their least common multiple, in units of their \
         last decimal, is larger; use smaller ones, or leave them out and check the numbers yourself"
    )
}

/// An error says that the schema's divisors are too large, all of them taken together: any two may meet
/// at one number.
pub fn bounded(schema: &Value) -> Result<(), String> {
    let mut found = Vec::new();
    collect(schema, &mut found);
    let decimals = found.iter().map(|&(_, decimals)| decimals).max().unwrap_or(0);
    let mut common = 1u128;
    for (digits, own) in found {
        let each =
            10u128.checked_pow(decimals - own).and_then(|scale| scale.checked_mul(digits)).ok_or_else(too_many)?;
        common = common / gcd(common, each) * each.min(STATES_MAX + 1); // so it cannot overflow
        if common > STATES_MAX {
            return Err(too_many());
        }
    }
    Ok(())
}

/// The same for the schemas that rules in Lark's form hold, `%json {...}`.
pub fn bounded_in_rules(rules: &str) -> Result<(), String> {
    for (at, word) in rules.match_indices("%json") {
        let mut values = Deserializer::from_str(&rules[at + word.len()..]).into_iter::<Value>();
        if let Some(Ok(schema)) = values.next() {
            bounded(&schema)?;
        }
    }
    Ok(())
}

/// Digits and decimals of each `multipleOf` that is a number: 0.25 is (25, 2).
fn collect(value: &Value, found: &mut Vec<(u128, u32)>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_f64() {
                    Some(number) if name == "multipleOf" && number > 0.0 => found.push(decimal(number)),
                    _ => collect(field, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

fn decimal(mut number: f64) -> (u128, u32) {
    for decimals in 0..=DECIMALS_MAX {
        if number.fract() == 0.0 {
            return (number as u128, decimals);
        }
        number *= 10.0;
    }
    (u128::MAX, 0)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}
