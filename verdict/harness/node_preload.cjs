// A console.assert that does not hold only prints, and the program ends well: here it throws, and
// a program that swallows that ends badly all the same.
"use strict";
const print = console.assert.bind(console);
let broken = false;
console.assert = (condition, ...rest) => {
  if (condition) return;
  print(condition, ...rest);
  broken = true;
  throw new Error(["console.assert does not hold", ...rest.map(String)].join(": "));
};
process.on("exit", (code) => {
  if (broken && !code) process.exitCode = 1;
});
// What tests compare with stays what it is.
const assert = require("node:assert");
for (const module of [assert, assert.strict]) {
  for (const name of Object.getOwnPropertyNames(module)) {
    const { configurable, value } = Object.getOwnPropertyDescriptor(module, name);
    if (configurable && typeof value === "function") {
      Object.defineProperty(module, name, { value, writable: false, configurable: false });
    }
  }
}
