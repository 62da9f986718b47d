// What the payment form's script in the shop's page works with.

import type { FaultKind, FrameEventMessage, FrameFieldName, FrameOptions, FrameState, Parameters, PaymentAnswer, ToFrame, ValidityMessage } from "./frames.d.ts";
import type { Configuration, ServiceResult, StoredCard, Wallet, WidgetKind } from "./service.d.ts";

/** What a frame was asked is answered by one of these; `silence` means that it did not answer in time. */
export type Answer = PaymentAnswer | ValidityMessage | { type: "silence"; body?: undefined };

/** wpwlOptions, as a page wrote it. */
export type GivenOptions = Record<string, unknown>;

export type Attributes = Record<string, string | number | boolean | null | undefined>;

export type MadeElement<Tag> = Tag extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Tag] : HTMLElement;

export type Settings = Readonly<ReturnType<typeof import("../parts/options.js").readSettings>>;

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
  isBank?: boolean;
  /** What a provider's account is known by, where there are several rows for it. */
  accountName?: string;
  /** The values to choose from, and the keys of their texts. */
  choices?: Record<string, string>;
  /** Whether it is written from left to right in every language. */
  isLatin?: boolean;
  fits?(text: string, control: TextControl): boolean;
  isPartial?(text: string, control: TextControl): boolean;
  setsUp?(control: HTMLInputElement): void;
  also?: Parameters;
}

/** The name of a row of inputs, and of the group that it becomes. */
export type InputName = keyof typeof import("../parts/inputs.js").INPUTS;

export interface InputChoices {
  isNeeded?: boolean;
  value?: string;
  groupName?: string;
  /** What a brand takes; where there are none, it takes all. */
  countries?: string[];
  banks?: string[];
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
