// @ts-check
// Makes and uses passkeys with the browser's own interface. A form with `data-passkey` is sent with the answer.

/** @param {string} text */
function decode(text) {
  const padded = text.replace(/-/g, "+").replace(/_/g, "/");
  return Uint8Array.from(atob(padded), (letter) => letter.charCodeAt(0));
}

/** @param {ArrayBuffer | null | undefined} buffer */
function encode(buffer) {
  if (!buffer) {
    return undefined;
  }
  const letters = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** @param {{ id: string, type: string }[] | undefined} list */
function readCredentials(list) {
  return (list ?? []).map((each) => ({ id: decode(each.id), type: /** @type {"public-key"} */ ("public-key") }));
}

/**
 * Asks the server what the passkey has to sign, which only this session may answer, once.
 * @param {HTMLFormElement} form
 * @param {string} use
 */
async function ask(form, use) {
  const token = String(new FormData(form).get("form_token"));
  const reply = await fetch(`/office/passkeys/${use}`, { method: "POST", body: new URLSearchParams({ form_token: token }) });
  if (!reply.ok || reply.redirected) {
    throw new Error("Your session has ended, or you have to confirm again that it is you. Please load the page again.");
  }
  const options = await reply.json();
  const name = options.rp?.id ?? options.rpId;
  if (name !== location.hostname) {
    throw new Error(`Passkeys work at ${name} only. Please open this page there.`);
  }
  return options;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} use
 */
async function answer(form, use) {
  const options = await ask(form, use);
  const challenge = decode(options.challenge);
  if (use === "new") {
    const user = { ...options.user, id: decode(options.user.id) };
    const excludeCredentials = readCredentials(options.excludeCredentials);
    return navigator.credentials.create({ publicKey: { ...options, challenge, user, excludeCredentials } });
  }
  const allowCredentials = readCredentials(options.allowCredentials);
  return navigator.credentials.get({ publicKey: { ...options, challenge, allowCredentials } });
}

/** @param {PublicKeyCredential} credential */
function render(credential) {
  const given = /** @type {AuthenticatorAttestationResponse & AuthenticatorAssertionResponse} */ (credential.response);
  const response = {
    clientDataJSON: encode(given.clientDataJSON),
    attestationObject: encode(given.attestationObject),
    authenticatorData: given.signature ? encode(given.authenticatorData) : undefined,
    signature: encode(given.signature),
    userHandle: encode(given.userHandle),
  };
  return JSON.stringify({ id: credential.id, rawId: encode(credential.rawId), type: credential.type, response });
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const button = form.querySelector("button");
  const fault = form.querySelector(".fault");
  const field = form.querySelector("input[name=credential]");
  if (form instanceof HTMLFormElement && button && fault instanceof HTMLElement && field instanceof HTMLInputElement) {
    button.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      fault.hidden = true;
      try {
        const made = await answer(form, form.dataset.passkey ?? "");
        field.value = render(/** @type {PublicKeyCredential} */ (made));
        form.submit();
      } catch (error) {
        const text = error instanceof Error && error.name === "Error" ? error.message : "The passkey was not used. Please try again.";
        fault.textContent = text;
        fault.hidden = false;
        button.disabled = false;
      }
    });
  }
}
