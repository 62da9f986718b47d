// A page of Vue whose component has the payment form's element as its root.
import { createApp, onMounted, onUnmounted, ref } from "vue/dist/vue.esm-bundler.js";
import { addScript, facts } from "./page.js";

const PaymentForm = {
  props: ["visit"],
  template: `<form class="paymentWidgets" :action="facts.action" :data-brands="facts.brands"></form>`,
  setup({ visit }) {
    let removeScript;
    onMounted(() => (removeScript = addScript(visit)));
    onUnmounted(() => removeScript && removeScript());
    return { facts };
  },
};

const Shop = {
  components: { PaymentForm },
  template: `
    <main>
      <button @click="visit += isShown ? 1 : 0; isShown = !isShown">Toggle</button>
      <button @click="visit += 1">Renew</button>
      <button @click="order = [...order].reverse()">Reorder</button>
      <button @click="clicks += 1">Render</button>
      <template v-for="name in order" :key="name">
        <p v-if="name === 'cart'">Cart {{ clicks }}</p>
        <PaymentForm v-else-if="isShown" :key="visit" :visit="visit" />
      </template>
      <footer>Terms</footer>
    </main>`,
  setup: () => ({ isShown: ref(true), visit: ref(0), order: ref(["cart", "payment"]), clicks: ref(0) }),
};

createApp(Shop).mount("#app");
