// A page of Angular whose component shows the payment form's element; Angular compiles it in the browser.
import "@angular/compiler";
import { Component, provideZonelessChangeDetection, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { addScript, facts } from "./page.js";

const PaymentForm = Component({
  selector: "form[payment]",
  inputs: ["visit"],
  host: { class: "paymentWidgets", "[attr.action]": "facts.action", "[attr.data-brands]": "facts.brands" },
  template: "",
})(
  class PaymentForm {
    facts = facts;

    ngOnInit() {
      this.removeScript = addScript(this.visit);
    }

    ngOnDestroy() {
      this.removeScript?.();
    }
  },
);

const Shop = Component({
  selector: "#app",
  imports: [PaymentForm],
  template: `
    <main>
      <button (click)="toggle()">Toggle</button>
      <button (click)="visit.set(visit() + 1)">Renew</button>
      <button (click)="order.set([order()[1], order()[0]])">Reorder</button>
      <button (click)="clicks.set(clicks() + 1)">Render</button>
      @for (name of order(); track name) {
        @if (name === "cart") {
          <p>Cart {{ clicks() }}</p>
        } @else if (isShown()) {
          @for (each of [visit()]; track each) {
            <form payment [visit]="each"></form>
          }
        }
      }
      <footer>Terms</footer>
    </main>`,
})(
  class Shop {
    isShown = signal(true);
    visit = signal(0);
    order = signal(["cart", "payment"]);
    clicks = signal(0);

    toggle() {
      this.visit.set(this.visit() + (this.isShown() ? 1 : 0));
      this.isShown.set(!this.isShown());
    }
  },
);

bootstrapApplication(Shop, { providers: [provideZonelessChangeDetection()] });
