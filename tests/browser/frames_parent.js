// Plays the shop's side of the protocol for tests of the service's frames, and remembers all that it is told.
"use strict";

const SILENCE_MS = 300;
const heard = {};
const ports = {};
const overheard = [];
const asks = new Map();

window.addEventListener("message", (event) => overheard.push(event.data));

function addFrame(name, src) {
  const frame = document.createElement("iframe");
  frame.name = name;
  frame.height = 46;
  const isLoaded = new Promise((resolve) => frame.addEventListener("load", resolve));
  frame.src = src;
  document.body.append(frame);
  return isLoaded.then(() => undefined);
}

function reach(target, { field, group, options, service }, port) {
  target.postMessage({ tollgate: "connect", field, group, options }, service, [port]);
}

function connect(wish) {
  const { port1, port2 } = new MessageChannel();
  const said = (heard[wish.field] = []);
  ports[wish.field] = port1;
  return new Promise((resolve) => {
    port1.onmessage = ({ data }) => {
      said.push(data);
      if (data.type === "ready") resolve("ready");
      if (asks.has(data.ask)) asks.get(data.ask)(data);
    };
    reach(document.querySelector(`iframe[name="card.${wish.field}"]`).contentWindow, wish, port2);
  });
}

function listen(target, wish) {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
    reach(target, wish, port2);
    setTimeout(() => resolve("silence"), SILENCE_MS);
  });
}

function connectOnceMore(wish) {
  return listen(document.querySelector(`iframe[name="card.${wish.field}"]`).contentWindow, wish);
}

function connectSibling(wish, place) {
  return listen(parent.frames[place], wish);
}

function ask(key, message) {
  const name = asks.size + 1;
  return new Promise((resolve) => {
    asks.set(name, resolve);
    ports[key].postMessage({ ...message, ask: name });
  });
}

/** Asks every frame of a page for its value in every way that frames ask each other, over ports and by windows. */
function pry(keys, page, service) {
  const questions = [
    { tollgateFrame: "hello", group: "g1", field: "number", isReply: false },
    { tollgateFrame: "hello", group: "g1", field: "number", isReply: true },
    { tollgateFrame: "ask", group: "g1", question: "q", brand: "VISA" },
    { tollgateFrame: "values", group: "g1", question: "q", values: {}, error: null },
    { tollgateFrame: "spent", group: "g1" },
    { type: "ask", group: "g1", question: "q" },
    { type: "values", ask: 1 },
    { type: "constructor" },
    { type: "__proto__" },
  ];
  for (const question of questions) {
    for (const key of keys) ports[key].postMessage(question);
    for (let place = 0; place < page.frames.length; place += 1) {
      if (page.frames[place] !== window) page.frames[place].postMessage(question, service);
    }
  }
}

function tellEverything() {
  const storage = [localStorage, sessionStorage].map((kept) => JSON.stringify(kept));
  const addresses = [location.href, ...[...document.querySelectorAll("iframe")].map((frame) => frame.src)];
  const entries = performance.getEntries().map((entry) => entry.name);
  const markup = document.body.innerHTML.replace(/<script>.*<\/script>/s, "");
  return JSON.stringify([heard, overheard, document.cookie, storage, addresses, entries, markup]);
}
