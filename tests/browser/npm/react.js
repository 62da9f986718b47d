// A page of React whose component has the payment form's element as its root.
import { StrictMode, createElement as h, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { addScript, facts } from "./page.js";

function PaymentForm({ visit, hasNote }) {
  useEffect(() => addScript(visit), []);
  const attributes = { className: "paymentWidgets", action: facts.action, "data-brands": facts.brands };
  return h("form", attributes, hasNote && h("p", null, "Note"));
}

function Shop() {
  const [isShown, setShown] = useState(true);
  const [visit, setVisit] = useState(0);
  const [order, setOrder] = useState(["cart", "payment"]);
  const [clicks, setClicks] = useState(0);
  const parts = {
    cart: h("p", { key: "cart" }, `Cart ${clicks}`),
    payment: isShown && h(PaymentForm, { key: `payment-${visit}`, visit, hasNote: clicks === 0 }),
  };
  return h(
    "main",
    null,
    h("button", { onClick: () => (setShown(!isShown), setVisit(visit + (isShown ? 1 : 0))) }, "Toggle"),
    h("button", { onClick: () => setVisit(visit + 1) }, "Renew"),
    h("button", { onClick: () => setOrder([...order].reverse()) }, "Reorder"),
    h("button", { onClick: () => setClicks(clicks + 1) }, "Render"),
    order.map((name) => parts[name]),
    h("footer", null, "Terms"),
  );
}

createRoot(document.getElementById("app")).render(h(StrictMode, null, h(Shop)));
