// Prints as JSON what gift-pegjs reads of a file.
const { readFileSync } = require("node:fs");
const { parse } = require("gift-pegjs");

console.log(JSON.stringify(parse(readFileSync(process.argv[2], "utf8"))));
