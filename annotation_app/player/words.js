// The words of the page: they come with the data, in the language of whoever works here.

let words = {};

function t(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

function many(key, n) {
  return t(`${key}_${n === 1 ? "one" : "other"}`, { n });
}
