// @ts-check
// Small helps for readers of the documentation: buttons that copy code, and where on the page the reader is. Texts are read without it.

import { addCopyButton } from "../modules/copying.js";

for (const block of document.querySelectorAll(".code")) {
  addCopyButton(block, () => (block.querySelector("code")?.textContent ?? "").replace(/\n$/, ""));
}

/** On a narrow screen the list of sections begins closed. */
const contents = document.querySelector("details.contents");
if (contents instanceof HTMLDetailsElement && window.matchMedia("(max-width: 79.99rem)").matches) {
  contents.open = false;
}

/** The menu begins at the current page, however far down it stands. */
const currentLink = document.querySelector(".menu [aria-current]");
const wholeMenu = currentLink?.closest(".menu");
if (currentLink instanceof HTMLElement && wholeMenu instanceof HTMLElement) {
  const isBelow = currentLink.offsetTop > wholeMenu.clientHeight - currentLink.offsetHeight;
  wholeMenu.scrollTop = isBelow ? currentLink.offsetTop - wholeMenu.clientHeight / 2 : 0;
}

/** Marks the section that is being read. */
const sectionLinks = new Map(
  [...document.querySelectorAll(".contents a")].map((link) => [(link.getAttribute("href") ?? "").slice(1), link]),
);
const watcher = new IntersectionObserver(
  (seen) => {
    const entered = seen.find((entry) => entry.isIntersecting);
    if (entered !== undefined) {
      sectionLinks.forEach((link) => link.removeAttribute("aria-current"));
      sectionLinks.get(entered.target.id)?.setAttribute("aria-current", "true");
    }
  },
  { rootMargin: "-60px 0px -70% 0px" },
);
for (const heading of document.querySelectorAll(".docs :is(h2, h3)[id]")) {
  watcher.observe(heading);
}
