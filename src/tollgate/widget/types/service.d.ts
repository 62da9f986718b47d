// What the service answers to the payment form.

export interface ParameterError {
  name: string;
  value?: string | null;
  message?: string;
}

export interface ServiceResult {
  code?: string;
  description?: string;
  parameterErrors?: ParameterError[];
}

export interface AnswerBody {
  result?: ServiceResult;
  attempt?: string;
  next?: { kind: string; url: string; isPaid?: boolean };
}

/** A reply of the service about the checkout. */
export interface CheckoutReply {
  status: number;
  body: Configuration & { result?: ServiceResult };
}

export interface Wallet {
  name: "applePay" | "googlePay";
  sheet?: string;
  script?: string;
  merchantName?: string;
  gateway?: string;
  gatewayMerchantId?: string;
}

export interface Mandate {
  creditor: string;
  identifier: string;
  texts: Record<string, string>;
}

export type WidgetKind =
  | "card"
  | "registration"
  | "directDebit"
  | "onlineTransfer"
  | "virtualAccount"
  | "inlineVirtualAccount"
  | "prepayment"
  | "wallet";

export interface CardBrand {
  prefixes: string[];
  lengths: number[];
  cvvLength: number;
  luhn: boolean;
  grouping: number[];
  shares: string[];
}

export interface BrandRow extends CardBrand {
  label: string;
  kind: WidgetKind;
  asks: string[];
  /** The countries that the brand takes; where there are none, it takes all. */
  countries: string[];
  /** What accounts of the provider are known by. */
  accountName: "any" | "phone" | "email";
  /** The banks that the shopper chooses from, where the brand has a list. */
  banks: string[];
  wallet?: Wallet;
  mandate?: Mandate;
  ibanLengths?: Record<string, number>;
}

export interface StoredCard {
  id: string;
  brand: string;
  number?: string;
  last4?: string;
  holder?: string;
  expiryMonth?: string;
  expiryYear?: string;
}

/** The state of a checkout. */
export interface CheckoutNow {
  state: string;
  returnUrl?: string | null;
  attemptsLeft?: number;
  amount?: `${number}`;
  currency?: string;
}

export interface Configuration extends CheckoutNow {
  kind: "payment" | "registration";
  isTest: boolean;
  requiresCvv: boolean;
  resultUrl: string | null;
  given: string[];
  postcodes: Record<string, [pattern: string, joint: string, shortest: number]>;
  brands: Record<string, BrandRow>;
  leftOut: Record<string, string>;
  registrations: StoredCard[];
}
