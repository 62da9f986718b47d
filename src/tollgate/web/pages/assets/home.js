// The last page of a shopper's way. In a frame or a popup it tells the shop's page, which then goes on; alone it goes
// on by itself. The link stays for whoever has no scripts, or a shop's page that has gone.
"use strict";

const link = document.getElementById("home");
const { origin, checkout } = link.dataset;
const isFramed = window.parent !== window;
const shop = isFramed ? window.parent : window.opener;

if (shop && origin) {
  shop.postMessage({ tollgate: "returned", checkoutId: checkout, url: link.href }, origin);
  if (!isFramed) {
    window.close();
  }
} else if (!isFramed) {
  window.location.replace(link.href);
}
