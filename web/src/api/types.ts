// The API's structs by the names that the pages use.
import type { components } from "./schema";

type Schemas = components["schemas"];
export type AccountView = Schemas["AccountView"];
export type BillLineView = Schemas["BillLineView"];
export type BillView = Schemas["BillView"];
export type CardView = Schemas["CardView"];
export type EventView = Schemas["EventView"];
export type GpuModelView = Schemas["GpuModelView"];
export type HostView = Schemas["HostView"];
export type InstanceView = Schemas["InstanceView"];
export type InvitationView = Schemas["InvitationView"];
export type OfferView = Schemas["OfferView"];
export type PriceView = Schemas["PriceView"];
export type ProblemView = Schemas["Problem"];
export type QuoteView = Schemas["QuoteView"];
export type RentRequest = Schemas["RentRequest"];
export type StartRequest = Schemas["StartRequest"];
export type TokenAnswer = Schemas["TokenAnswer"];
export type TokenView = Schemas["TokenView"];
export type TransactionView = Schemas["TransactionView"];
export type WalletView = Schemas["WalletView"];
