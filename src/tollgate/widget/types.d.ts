// The shapes that the modules of the payment form share. Nothing of this reaches a browser.

// ---- between the page and the frames ----

export type FrameFieldName = "number" | "cvv" | "holder" | "expiry";

/** Why a field is not valid, for the choice of the text that says so. */
export type FaultKind = "empty" | "incomplete" | "invalid" | "expired";

/** What a page may tell a frame; a frame takes over each member that has the right form. */
export interface FrameOptions {
  lang?: string;
  dir?: string;
  scheme?: string;
  label?: string;
  placeholder?: string;
  hint?: string;
  brand: string | null;
  accepted: string[];
  priority: string[];
  detects: boolean;
  formats: boolean;
  masks: boolean;
  allowsEmpty: boolean;
  required: boolean;
  autofocus?: boolean;
  styles?: Record<string, unknown>;
  placeholderStyles?: Record<string, unknown>;
  colors?: Record<string, unknown>;
  checkoutId?: string;
  resource: string;
}

/** Parameters of a payment by their names. */
export type Parameters = Record<string, string>;

export type ToFrame =
  | { type: "options"; options: Partial<FrameOptions> }
  | { type: "focus" | "clear" }
  | { type: "validate"; ask: number }
  | { type: "submit"; ask: number; fields: Parameters };

/** A question to a frame, which gets a number before it is sent. */
export type FrameQuestion = { type: "validate" } | { type: "submit"; fields: Parameters };

export interface ValidityMessage {
  type: "validity";
  ask: number;
  isValid: boolean;
  kind?: FaultKind | null;
  errors: Record<string, string>;
  body?: undefined;
}

/** The service's answer to a payment; the status is 0 where nobody answered. */
export interface PaymentAnswer {
  type: "answer";
  status: number;
  body?: AnswerBody | null;
}

export interface AnswerMessage extends PaymentAnswer {
  ask: number;
}

/** What the page says to itself for a frame that does not answer. */
export interface SilenceMessage {
  type: "silence";
  text: string;
}

export type FrameEventMessage =
  | { type: "ready" | "focus" | "enter" }
  | { type: "change"; isValid: boolean; isPotentiallyValid: boolean; isEmpty: boolean; kind: FaultKind | null; length: number }
  | { type: "blur"; isValid: boolean; isEmpty: boolean; kind: FaultKind | null }
  | { type: "brands"; detected: string[]; active: string | null }
  | { type: "height"; px: number }
  | SilenceMessage;

export type FromFrame = FrameEventMessage | ValidityMessage | AnswerMessage;

export interface FrameState {
  isValid: boolean;
  isPotentiallyValid: boolean;
  isEmpty: boolean;
  kind?: FaultKind | null;
}

// ---- in the frames ----

/** A text in an input, and where the caret stands in it. */
export interface Edit {
  text: string;
  caret: number;
}

export interface Today {
  year: number;
  month: number;
}

export interface Expiry {
  month: string;
  year: string;
  isUnread?: boolean;
}

export interface Validation {
  isValid: boolean;
  isPotentiallyValid: boolean;
  kind: FaultKind;
  error: string | null;
}

/** How one field of a card writes, validates and names what is typed. */
export interface CardFieldRow {
  fault: string;
  isDigits: boolean;
  deleteAt(text: string, caret: number, isForward: boolean): Edit | null;
  count(text: string): number;
  set(text: string, caret: number, options: FrameOptions, isDeleting: boolean): Edit;
  validate(text: string, options: FrameOptions, now: Today): Validation;
  values(text: string, now: Today): Parameters;
}

/** What frames of one form say to each other, by the name of the message. */
export interface SiblingMessages {
  hello: { field: string; isReply: boolean };
  ask: { question: string; brand: string | null };
  values: { question: string; values: Parameters; error: string | null };
  spent: object;
}

/** Values of a form's frames, and the faults of those that are not right. */
export interface Collected {
  values: Parameters;
  errors: Record<string, string>;
}

/** The first key of a range of card numbers, and the first key behind it. */
export interface CardRange {
  code: string;
  digits: number;
  start: number;
  end: number;
}

export interface CardBrand {
  prefixes: string[];
  lengths: number[];
  cvvLength: number;
  luhn: boolean;
  grouping: number[];
  shares: string[];
}

// ---- what the service answers ----

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

/** What a frame was asked is answered by one of these; `silence` means that it did not answer in time. */
export type Answer = PaymentAnswer | ValidityMessage | { type: "silence"; body?: undefined };

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

export interface BrandRow extends CardBrand {
  label: string;
  kind: WidgetKind;
  asks: string[];
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

// ---- in the shop's page ----

export type WidgetKind =
  | "card"
  | "registration"
  | "directDebit"
  | "onlineTransfer"
  | "virtualAccount"
  | "inlineVirtualAccount"
  | "prepayment"
  | "wallet";

/** wpwlOptions, as a page wrote it. */
export type GivenOptions = Record<string, unknown>;

export type Attributes = Record<string, string | number | boolean | null | undefined>;

export type MadeElement<Tag> = Tag extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Tag] : HTMLElement;

export type Settings = Readonly<ReturnType<typeof import("./parts/options.js").readSettings>>;

/** Says texts in the language of one form. */
export interface Translator {
  translate(key: string, values?: Record<string, string>): string;
  /** Whether the page brought this text along. */
  isOwn(key: string): boolean;
  code: string;
  tag: string;
  dir: string;
}

/** An error as the page's onError gets it. */
export interface ReportedError extends Error {
  /** The key of the text that is shown to the shopper. */
  text?: string;
  result?: ServiceResult;
  brand?: string | null;
  event?: string;
}

export type TextControl = HTMLInputElement | HTMLSelectElement;

export interface FieldGroup {
  group: HTMLElement;
  wrapper: HTMLElement;
  label: HTMLElement;
  /** What the field is called in messages about it. */
  called: string;
}

export interface Field extends FieldGroup {
  name: string;
  /** The parameters that the field stands for. */
  names: string[];
  control: TextControl | HTMLIFrameElement;
  frame: Frame | null;
  /** The key of the fault that is shown, or nothing. */
  fault: string;
  hint: HTMLElement | null;
  /** Returns the key of the fault, or nothing where the field is right. */
  validate(): string;
  findFaultKind(): FaultKind | null | undefined;
  isEmpty(): boolean;
  /** Whether no further character can make it right. */
  cannotBecomeValid(): boolean;
  focus(): void;
  /** Writes the hidden inputs that are sent in place of the field. */
  fillHidden?(): void;
  hiddens?: HTMLInputElement[];
}

/** A field whose control has a value that the page can read. */
export interface InputField extends Field {
  control: TextControl;
}

/** A field in a frame of the service. */
export interface FrameField extends Field {
  control: HTMLIFrameElement;
  frame: Frame;
  /** What the frame itself found wrong. */
  lastError: string;
  /** The key of the text that says why the frame is silent, or nothing. */
  silence: string;
}

export interface BrandField extends Field {
  control: HTMLSelectElement;
  mark: HTMLElement;
  chosenByHand: boolean;
}

export interface FrameFieldRow {
  name: string;
  label: string;
  names: string[];
  blurHook: string;
  example?: string;
  placeholder?: string;
}

/** One input of the shop's page. */
export interface InputRow {
  names: string[];
  label: string;
  autocomplete: string;
  max?: number;
  type?: string;
  isCountry?: boolean;
  /** Whether it is written from left to right in every language. */
  isLatin?: boolean;
  fits?(text: string, control: TextControl): boolean;
  isPartial?(text: string, control: TextControl): boolean;
  setsUp?(control: HTMLInputElement): void;
  also?: Parameters;
}

/** The name of a row of inputs, and of the group that it becomes. */
export type InputName = keyof typeof import("./parts/inputs.js").INPUTS;

export interface InputChoices {
  isNeeded?: boolean;
  value?: string;
  groupName?: string;
}

export interface FrameRequest {
  field: FrameFieldName;
  group: string;
  classes: string;
  title: string;
  options(): Partial<FrameOptions>;
}

export type ReceiveFromFrame = (message: FrameEventMessage, frame: Frame) => void;

/** The page's side of a frame of the service. */
export interface Frame {
  element: HTMLIFrameElement;
  field: FrameFieldName;
  state: FrameState;
  options(): Partial<FrameOptions>;
  isReady: boolean;
  isGivenUp: boolean;
  port: MessagePort | null;
  asks: Map<number, { resolve(answer: Answer): void; message: ToFrame }>;
  asked: number;
  ready: Promise<boolean>;
  becomesReady: ((isReady: boolean) => void) | null;
  reloads: number;
  /** Timers. */
  reloading: number | undefined;
  patience: number | undefined;
  giveUp(text: string): void;
}

/** What a frame copies from the page around it. */
export interface FrameLooks {
  styles: Record<string, unknown>;
  placeholderStyles: Record<string, unknown>;
}

/** One form element of the page, in whose place forms are shown. */
export interface Place {
  element: HTMLElement;
  codes: string[];
  translator: Translator;
  resultUrl: string;
  target: string;
  /** Elements that the page put into its form. */
  adopted: Element[];
  /** The form that holds them now. */
  host?: Widget;
  /** In the accordion. */
  methods?: Method[];
  open?: Method;
  footer?: HTMLElement;
}

/** A payment method of the accordion; a stored card is one of its own. */
export interface Method {
  widget: Widget;
  radio: HTMLInputElement;
  panel: HTMLElement;
  isBare?: boolean;
  choose(): void;
}

/** One form of ours. */
export interface Widget {
  kind: WidgetKind;
  key: string;
  /** Null where the form itself asks for the brand. */
  brand: string | null;
  translator: Translator;
  place: Place;
  container: HTMLElement;
  form: HTMLFormElement;
  /** The name of the page's function that may stop the payment. */
  hook: string;
  fields: Field[];
  frames: Frame[];
  /** Frames of one form find each other by it. */
  group: string;
  /** Returns the frame that sends the payment; null where the page does. */
  submitter(): Frame | null;
  readBrand(): string | null;
  resultTarget: string;
  message: HTMLElement;
  status: HTMLElement;
  button: HTMLButtonElement;
  /** What we have written on the button; methods of the accordion share it. */
  labelled: { text: string };
  renderLabel(): string;
  renderOwnLabel?(): string;
  addFields?(): Parameters;
  takeDetectedBrands?(detected: string[], active: string | null): void;
  codes?: string[];
  /** Fields that the service asked for after an attempt. */
  askedFields?: Field[];
  askedGroup?: HTMLElement;
  saveBox?: HTMLElement;
  mandate?: HTMLElement | null;
  opensDialog?: boolean;
  opensPopup?: boolean;
  isConfirmed?: boolean;
  isSummedUp?: boolean;
  /** What watches for the line to come back. */
  lineWatch?: object;
  /** Stored cards. */
  rows?: StoredRow[];
  chosen?: StoredRow;
  block?: HTMLElement;
  /** Wallets. */
  requestToken?(attempt: Attempt): Promise<string>;
  token?: string;
  looks?: string;
  ownButton?: HTMLElement | null;
}

export interface FoundBrands {
  detected: string[];
  active: string | null;
}

export interface CardWidget extends Widget {
  codes: string[];
  brandField: BrandField;
  cvvField?: Field;
  cvvHint?: HTMLElement;
  readBrand(): string;
  marks?: { code: string; element: HTMLElement }[];
  found?: FoundBrands;
}

export interface StoredRow {
  card: StoredCard;
  radio: HTMLInputElement;
  group: HTMLElement;
  cvvPlace: HTMLElement;
  cvvField: FrameField | null;
}

export interface StoredWidget extends Widget {
  rows: StoredRow[];
  block: HTMLElement;
}

export interface Dialog {
  element: HTMLDialogElement;
  closed: Promise<unknown>;
  /** Ends the wait for its end: a dialog that is removed while it is open fires no event. */
  finish(): void;
}

/** What one run of the script knows. */
export interface PageState {
  options: GivenOptions;
  settings: Settings;
  configuration: Configuration;
  widgets: Widget[];
  attempt: Attempt | null;
  isBlocked: boolean;
  isUnloaded: boolean;
  /** Whether the forms have given way to a note that it is paid. */
  isPaid: boolean;
  /** Whether an attempt was made whose outcome is not known. */
  isOutcomeUnknown: boolean;
  /** The key of the text that says why the service could not be asked last. */
  trouble: string;
  /** Whether the page's policy takes windows away from it as soon as they are somewhere else. */
  losesWindows: boolean;
  /** Resolved when the style sheets are loaded, or take too long. */
  styled: Promise<unknown> | null;
  hasSkeletonRules: boolean;
  unloadTasks: (() => void)[];
}

/** One attempt to pay; a page has at most one at a time. */
export interface Attempt {
  widget: Widget;
  /** The service's name for it. */
  id: string;
  popup: Window | null;
  dialog: Dialog | null;
  closeWallet: (() => void) | null;
  finishWallet: ((isPaid: boolean) => void) | null;
  /** The button that gives a provider's window up. */
  cancel: HTMLElement | null;
  focused: HTMLElement | null;
  inertNodes: HTMLElement[];
  /** Forms that were told that another one is paying. */
  informed: Widget[];
  isConfirmed: boolean;
  isSent: boolean;
  isLeaving: boolean;
  isCut: boolean;
  isDecided: boolean;
  isDoubtful: boolean;
}

/** A result that the shopper can go to by a link. */
export interface ResultWindow {
  address: URL;
  target: string;
}

/** The page's answer whether the shopper may pay. */
export type Permission = boolean | Promise<boolean>;

export interface WalletRow {
  scriptAttributes: Attributes;
  requestToken(attempt: Attempt, wallet: Wallet): Promise<string>;
  /** Returns why it cannot be paid with here, or nothing. */
  findObstacle(wallet: Wallet, configuration: Configuration): string | Promise<string>;
  makeButton(widget: Widget): HTMLElement;
}

export interface PublicApi {
  cacheVersion: string;
  checkout: { id: string; config: object; amount?: `${number}`; currency?: string };
  readonly isUnloaded: boolean;
  executePayment(container: string): void;
  unload(): void;
}

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
