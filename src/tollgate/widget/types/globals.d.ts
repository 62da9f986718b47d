// What is global in the scripts of the payment form: constants that the server writes, and what pages and wallets bring.

import type { PublicApi } from "./page.d.ts";
import type { CardBrand } from "./service.d.ts";

interface ApplePaySession {
  onvalidatemerchant(event: { validationURL: string }): void;
  onpaymentauthorized(event: { payment: { token: { paymentData: object } } }): void;
  oncancel(): void;
  begin(): void;
  abort(): void;
  completeMerchantValidation(merchant: unknown): void;
  completePayment(result: { status: number }): void;
}

interface GooglePaymentsClient {
  isReadyToPay(request: object): Promise<{ result: boolean }>;
  loadPaymentData(request: object): Promise<{ paymentMethodData: { tokenizationData: { token: string } } }>;
  createButton(options: object): HTMLElement;
}

declare global {
  /** Written in front of the frames' script. */
  const BRAND_ROWS: Record<string, CardBrand>;
  /** Written in front of the page's script. */
  const VERSION: string;
  const TEXT_KEYS: string[];
  const TEXTS: Record<string, string[]>;
  const ALIASES: Record<string, string>;

  /** A page's `let` or `const`, which is no property of its window. */
  const wpwlOptions: unknown;
  const ApplePaySession: {
    new (version: number, request: object): ApplePaySession;
    canMakePayments(): boolean;
    STATUS_SUCCESS: number;
    STATUS_FAILURE: number;
  };
  const google: { payments: { api: { PaymentsClient: new (options: object) => GooglePaymentsClient } } };

  interface Window {
    wpwl?: PublicApi;
    wpwlOptions?: unknown;
    jQuery?: unknown;
    ApplePaySession?: unknown;
    /** Of a payment link's page. */
    completeOptions?: unknown;
  }
  interface Document {
    [run: symbol]: PublicApi | undefined;
  }
}
