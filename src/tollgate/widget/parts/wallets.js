// Wallets: a button whose sheet gives a token that pays. On a test host the sheet is simulated in our own dialog; on a
// live host the wallet's own script shows it, and a wallet that this browser does not have is left out.
const WALLET_PATIENCE_MS = 4000;
const NOT_HERE = "this browser or device cannot pay with it";
// Card networks as Apple and Google spell them.
const WALLET_NETWORKS = {
  VISA: ["visa", "VISA"],
  MASTER: ["masterCard", "MASTERCARD"],
  AMEX: ["amex", "AMEX"],
  DISCOVER: ["discover", "DISCOVER"],
  JCB: ["jcb", "JCB"],
  MAESTRO: ["maestro"],
  MADA: ["mada"],
};

function readWalletOptions(name) {
  return readObject(page.options[name]) || {};
}

// A page without card brands of its own takes the usual networks.
function listNetworks({ brands }, spelling) {
  const taken = Object.keys(brands).filter((code) => WALLET_NETWORKS[code]);
  const codes = taken.length ? taken : ["VISA", "MASTER", "AMEX"];
  return codes.map((code) => WALLET_NETWORKS[code][spelling]).filter(Boolean);
}

// Takes wallets that cannot be paid with here out of what is offered, before any form is made.
async function offerWallets(configuration) {
  const { brands, leftOut } = configuration;
  const scripted = Object.keys(brands).filter((code) => brands[code].wallet && brands[code].wallet.script);
  const late = wait(WALLET_PATIENCE_MS).then(() => "its script did not load");
  const check = async (code) => {
    const { wallet } = brands[code];
    const obstacle = await Promise.race([findWalletObstacle(wallet, configuration), late]);
    if (obstacle) {
      delete brands[code];
      leftOut[code] = obstacle;
    }
  };
  await Promise.all(scripted.map(check));
  warnOfLeftOut(leftOut);
  return configuration;
}

async function findWalletObstacle(wallet, configuration) {
  try {
    await loadWalletScript(wallet);
    return await WALLETS[wallet.name].findObstacle(wallet, configuration);
  } catch (fault) {
    return String((fault && fault.message) || NOT_HERE);
  }
}

const walletScripts = new Map();

function loadWalletScript({ name, script: src }) {
  if (!walletScripts.has(src)) {
    const script = make("script", "", { src, ...WALLETS[name].scriptAttributes });
    walletScripts.set(
      src,
      new Promise((resolve, reject) => {
        script.addEventListener("load", resolve);
        script.addEventListener("error", () => reject(new Error(`its script was blocked: add ${new URL(src).origin} to script-src`)));
      }),
    );
    document.head.append(script);
  }
  return walletScripts.get(src);
}

const warned = new Set();

function warnOfLeftOut(leftOut) {
  for (const [code, reason] of Object.entries(leftOut).filter(([code]) => !warned.has(code))) {
    warned.add(code);
    console.warn(`${SCRIPT_NAME} leaves out ${code}: ${reason}`);
  }
}

// ---- the form ----

function makeWallet(place, code) {
  const { label, wallet } = page.configuration.brands[code];
  const word = `virtualAccount-${code}`;
  const widget = makeWidget("wallet", { container: word, form: word, id: "virtualAccount" }, place, code);
  widget.sayOwn = () => widget.voice.say("payWith", { brand: label });
  widget.askToken = (attempt) => (wallet.sheet ? askSheet(attempt, wallet.sheet, label) : WALLETS[wallet.name].ask(attempt, wallet));
  widget.addFields = () => (widget.token ? { [`${wallet.name}.paymentToken`]: widget.token } : {});
  widget.looks = wallet.name;
  widget.ownButton = wallet.sheet ? null : WALLETS[wallet.name].makeButton(widget);
  return widget;
}

const WALLET_CLASSES = { applePay: "wpwl-apple-pay-button", googlePay: "wpwl-google-pay-button" };

// Wallets ask for buttons of their own looks. Several methods may share one button, which looks as the open one wants.
function dressButton({ button, looks, ownButton }) {
  button.classList.toggle("wpwl-button-wallet", Boolean(looks));
  Object.entries(WALLET_CLASSES).forEach(([name, word]) => button.classList.toggle(word, name === looks));
  button.parentElement.querySelectorAll(".wpwl-wallet-own").forEach((other) => other.remove());
  if (ownButton) {
    button.after(ownButton);
  }
  // Whether the page itself hides our button is its own affair.
  if (ownButton || button.hidden) {
    setHidden(button, Boolean(ownButton));
  }
}

// The sheet is opened within the shopper's click wherever the page does not make it wait.
function takeToken(attempt, isAllowed) {
  const { widget } = attempt;
  const ask = async () => {
    widget.token = await widget.askToken(attempt);
    if (isCurrent(attempt)) {
      await (widget.token ? hold(attempt) : followCancelled(attempt));
    }
    return Boolean(widget.token);
  };
  return isAllowed === true ? ask() : isAllowed.then((isSo) => isSo && isCurrent(attempt) && ask());
}

// Nothing was sent here. But the checkout may have ended or be paid in another window, or nobody can tell.
async function followCancelled(attempt) {
  const now = await askState();
  if (isCurrent(attempt) && now && now.state === "open") {
    sayNotCharged(attempt.widget, now);
  } else {
    followUncertain(attempt, now);
  }
}

// A sheet that stays open until the service has answered is told how it ended.
function finishSheet({ finishWallet }, { body }) {
  if (finishWallet) {
    finishWallet(Boolean(body && body.result && /^000\./.test(body.result.code)));
  }
}

// ---- the sheet of a test host ----

async function askSheet(attempt, sheet, title) {
  const address = `${source.origin}${sheet}?${new URLSearchParams({ checkoutId: source.checkoutId, origin: window.origin })}`;
  let token = "";
  const hear = ({ origin, data }) => {
    if (origin === source.origin && data && data.tollgate === "wallet" && data.checkoutId === source.checkoutId && attempt.dialog) {
      token = String(data.token || "");
      attempt.dialog.element.close();
    }
  };
  window.addEventListener("message", hear);
  try {
    await visitInDialog(attempt, address, title);
  } finally {
    window.removeEventListener("message", hear);
  }
  return token;
}

// ---- the wallets' own sheets ----

function makeAppleRequest(wallet) {
  const options = readWalletOptions("applePay");
  const { amount, currency } = page.configuration;
  const wished = readObject(options.total) || readObject(page.options.total) || {};
  return {
    countryCode: options.countryCode,
    currencyCode: currency,
    merchantCapabilities: options.merchantCapabilities || ["supports3DS"],
    supportedNetworks: options.supportedNetworks || listNetworks(page.configuration, 0),
    total: { label: wished.label || options.displayName || wallet.merchantName, amount },
  };
}

function askApple(attempt, wallet) {
  const options = readWalletOptions("applePay");
  const session = new ApplePaySession(3, makeAppleRequest(wallet));
  let isOpen = true;
  const end = (act) => {
    if (isOpen) {
      isOpen = false;
      try {
        act();
      } catch {
        // Apple may have ended the session without telling; it throws then. The sheet is gone, and the payment goes on.
      }
    }
  };
  const finish = (isPaid) =>
    end(() => session.completePayment({ status: isPaid ? ApplePaySession.STATUS_SUCCESS : ApplePaySession.STATUS_FAILURE }));
  return new Promise((resolve, reject) => {
    session.onvalidatemerchant = async ({ validationURL }) => {
      try {
        const merchant = await options.onValidateMerchant(validationURL);
        if (isOpen) {
          session.completeMerchantValidation(merchant);
        }
      } catch (fault) {
        end(() => session.abort());
        reject(fault);
      }
    };
    session.onpaymentauthorized = ({ payment }) => {
      attempt.finishWallet = finish;
      resolve(JSON.stringify(payment.token.paymentData));
    };
    session.oncancel = () => end(() => resolve(""));
    session.begin();
    attempt.closeWallet = () => {
      end(() => session.abort());
      resolve("");
    };
  });
}

function makeGoogleMethod(wallet, configuration) {
  const options = readWalletOptions("googlePay");
  return {
    type: "CARD",
    parameters: {
      allowedAuthMethods: options.allowedAuthMethods || ["PAN_ONLY", "CRYPTOGRAM_3DS"],
      allowedCardNetworks: options.allowedCardNetworks || listNetworks(configuration, 1),
    },
    tokenizationSpecification: {
      type: "PAYMENT_GATEWAY",
      // The service opens tokens that were made for its own name at Google, whatever a page brought along says.
      parameters: { gateway: wallet.gateway, gatewayMerchantId: wallet.gatewayMerchantId || options.gatewayMerchantId },
    },
  };
}

function makeGoogleRequest(wallet, configuration) {
  return { apiVersion: 2, apiVersionMinor: 0, allowedPaymentMethods: [makeGoogleMethod(wallet, configuration)] };
}

function makeGoogleClient() {
  return new google.payments.api.PaymentsClient({ environment: "PRODUCTION" });
}

async function askGoogle(attempt, wallet) {
  const { merchantId, merchantName, countryCode } = readWalletOptions("googlePay");
  const { amount, currency } = page.configuration;
  try {
    const chosen = await makeGoogleClient().loadPaymentData({
      ...makeGoogleRequest(wallet, page.configuration),
      merchantInfo: { merchantId, merchantName: merchantName || wallet.merchantName },
      transactionInfo: { totalPriceStatus: "FINAL", totalPrice: amount, currencyCode: currency, countryCode },
    });
    return chosen.paymentMethodData.tokenizationData.token;
  } catch (fault) {
    if (fault && fault.statusCode === "CANCELED") {
      return "";
    }
    throw fault;
  }
}

const WALLETS = {
  applePay: {
    scriptAttributes: { crossorigin: "anonymous" },
    ask: askApple,
    findObstacle() {
      const options = readWalletOptions("applePay");
      const missing = ["countryCode", "onValidateMerchant"].find((name) => !options[name]);
      if (missing) {
        return `wpwlOptions.applePay.${missing} is missing`;
      }
      return window.ApplePaySession && ApplePaySession.canMakePayments() ? "" : NOT_HERE;
    },
    makeButton(widget) {
      const button = make("apple-pay-button", "wpwl-wallet-own", { buttonstyle: "black", type: "pay", locale: widget.voice.tag });
      button.addEventListener("click", () => startPaying(widget));
      return button;
    },
  },
  googlePay: {
    // As Google documents its tag: nothing promises that its host answers requests with CORS.
    scriptAttributes: {},
    ask: askGoogle,
    async findObstacle(wallet, configuration) {
      if (!wallet.gateway) {
        return "the channel's key was not made for a gateway";
      }
      if (!readWalletOptions("googlePay").merchantId) {
        return "wpwlOptions.googlePay.merchantId is missing";
      }
      const { result } = await makeGoogleClient().isReadyToPay(makeGoogleRequest(wallet, configuration));
      return result ? "" : NOT_HERE;
    },
    makeButton(widget) {
      const button = makeGoogleClient().createButton({
        onClick: () => startPaying(widget),
        buttonType: "pay",
        buttonSizeMode: "fill",
        buttonLocale: widget.voice.tag.slice(0, 2),
      });
      button.classList.add("wpwl-wallet-own");
      return button;
    },
  },
};
