// The page of a payment link: amounts and dates in the shopper's notation, a word when the form does not load, and other tabs that learn of
// a payment. It touches nothing of the form.
(() => {
  "use strict";
  const FIRST_LOOK_MS = 4000;
  const LAST_LOOK_MS = 60000;
  const RELOADED_FOR = "payment-link-reloaded-for";

  // What says that scripts are off stands in the page until one runs: so it also shows where something holds them back.
  document.documentElement.classList.add("scripted");
  // Here and not at the end: the form's script may fail before the page is read.
  window.addEventListener("error", (event) => event.target.id === "form-script" && whenRead(showFailure), true);
  // A picture that does not load would show the browser's sign for it, or an empty frame.
  window.addEventListener("error", ({ target }) => target instanceof Element && hidePicture(target), true);
  // A page that comes back from the browser's memory may show a form for what is paid.
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());
  // The page calls it, where it is there, with what the server says of the form: functions and the shopper's zone are added here.
  window.completeOptions = completeOptions;
  whenRead(start);

  function whenRead(task) {
    if (document.readyState === "loading") {
      document.addEventListener("DOMContentLoaded", task, { once: true });
    } else {
      task();
    }
  }

  function hidePicture(target) {
    target.hidden ||= target.matches(".logo, .backdrop");
  }

  function start() {
    const language = document.documentElement.lang;
    document.querySelectorAll("data.money").forEach((place) => showMoney(place, language));
    document.querySelectorAll("time").forEach(showTime);
    document.querySelectorAll("[data-prints]").forEach((button) => {
      button.hidden = false;
      button.addEventListener("click", () => window.print());
    });
    if (document.querySelector("[data-looks-again]")) {
      lookAgain(FIRST_LOOK_MS);
    }
    tellOtherTabs();
  }

  function completeOptions(options, { text, retryAt }) {
    options.errorMessages.attemptsUsedUp = text.replace("{date}", () => renderTime(retryAt));
    options.onError = (fault) => fault.name === "InvalidCheckoutIdError" && reloadOnce();
  }

  // The page makes another checkout where this one has ended. Once for each, so that a page that fails again stays and says so.
  function reloadOnce() {
    const { src } = document.getElementById("form-script");
    try {
      if (sessionStorage.getItem(RELOADED_FOR) === src) {
        return;
      }
      sessionStorage.setItem(RELOADED_FOR, src);
    } catch {
      return;
    }
    location.reload();
  }

  // The page itself stays, with focus and reading position, until there is something else to say.
  function lookAgain(pause) {
    setTimeout(async () => {
      if (await isStillWaiting()) {
        lookAgain(Math.min(pause * 1.5, LAST_LOOK_MS));
      } else {
        location.reload();
      }
    }, pause);
  }

  async function isStillWaiting() {
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      const isPage = (answer.headers.get("content-type") || "").startsWith("text/html");
      // What stands between, such as a proxy, has error pages of its own, and those decide nothing.
      return answer.status >= 500 || !isPage || (await answer.text()).includes("data-looks-again");
    } catch {
      return true;
    }
  }

  function showMoney(place, language) {
    const format = new Intl.NumberFormat(language, { style: "currency", currency: place.dataset.currency });
    place.textContent = format.format(Number(place.value));
  }

  function showTime(place) {
    place.textContent = renderTime(place.dateTime);
  }

  // In the zone of the shopper's own clock.
  function renderTime(moment) {
    const { lang } = document.documentElement;
    // An English page is read by Britons too: the browser knows the country, as long as it speaks the page's language.
    const locale = navigator.languages.find((tag) => tag.split("-")[0] === lang.split("-")[0]) || lang;
    return new Intl.DateTimeFormat(locale, { dateStyle: "long", timeStyle: "short" }).format(new Date(moment));
  }

  function showFailure() {
    document.querySelector(".failed").hidden = false;
  }

  function tellOtherTabs() {
    const [waiting, paid] = ["data-link", "data-paid"].map((name) => document.querySelector(`[${name}]`));
    if (!("BroadcastChannel" in window) || !(waiting || paid)) {
      return;
    }
    const channel = new BroadcastChannel(`payment-link-${(waiting || paid).dataset[waiting ? "link" : "paid"]}`);
    if (paid) {
      channel.postMessage("paid");
    } else {
      channel.onmessage = () => location.reload();
    }
  }
})();
