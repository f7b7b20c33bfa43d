// What a payment processor is to the relay: it opens an invoice, and tells by signed notifications what was paid.
import type { OrderId } from '@sotto/protocol'
import { ProtocolError } from '@sotto/protocol'
import * as v from 'valibot'
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import type { OrderToOpen, PaymentSeen } from '../provider.ts'
import { type BoundedRequest, isConfidential, request, Unreachable } from './bounded-request.ts'
import { parseJson } from './webhook-json.ts'

/** One make of processor. */
export interface Processor {
  /** As in the setting `WEBHOOK_PROCESSOR`; references begin with it. */
  readonly name: string
  /** Opens an invoice. @throws Unreachable */
  open(order: OrderToOpen): Promise<Opened>
  /** What a notification's headers claim to be its signature; undefined where it cannot be one. */
  signatureOf(headers: Headers): string | undefined
  /** The text that the processor signed, of these bytes; undefined where it did not. Nothing else is ever read. */
  signedText(body: Uint8Array, signature: string): string | undefined
  /** What a signed notification says. @throws Nonsense, or Unreachable where the processor had to be asked */
  read(signed: string): Promise<Told>
  /** The same of something it was to be asked for. @throws Nonsense, Unreachable */
  look(name: string): Promise<Told>
}

/** An invoice. */
export interface Opened {
  /** The page to pay on. */
  readonly page: string
  /** By which name the processor can be asked for it, if it can. */
  readonly name?: string
}

/** What a processor says of an order. */
export interface Told {
  readonly seen: readonly PaymentSeen[]
  /** References of payments that came to nothing. */
  readonly gone: readonly string[]
  /** What it can be asked for from now on. */
  readonly ask?: { readonly name: string; readonly orderId: OrderId }
}

/** Who signed is the processor, but what it says makes no sense here. */
export class Nonsense extends Error {
  override readonly name = 'Nonsense'
}

/** The processor answered, but nothing that can be used; it would again. */
export class Unusable extends Unreachable {}

/** What the operator set, with the relay's own address. */
export interface ProcessorConfig {
  readonly apiUrl: string
  readonly apiKey: string
  readonly secret: string
  /** For BTCPay Server. */
  readonly store: string
  /** Where notifications are to be sent. */
  readonly callbackUrl: string
}

/** What processors are made with. */
export interface ProcessorParts {
  readonly clock: Clock
  readonly log: Log
  /** Ends what is being asked when the relay stops. */
  readonly stopping: AbortSignal
}

/** The name of what amounts are counted in: millionths of a US dollar, one for one with the stablecoin. */
export const ASSET = 'usdt'
export const DECIMALS = 6

const MOST_REPLY_BYTES = 262_144
/** What it answers to anybody while something is wrong with the key or the pace, or with itself. */
const PASSING = [401, 403, 408, 429]

/** Asks the processor, and checks what it answers. @throws Unreachable, and of that Unusable */
export async function ask<T>(
  url: string,
  asked: Pick<BoundedRequest, 'method' | 'headers' | 'body' | 'signal'>,
  schema: v.GenericSchema<unknown, T>,
): Promise<T> {
  const { status, text } = await request(url, {
    ...asked,
    headers: { 'content-type': 'application/json', ...asked.headers },
    mostBytes: MOST_REPLY_BYTES,
  })
  if (status < 200 || status > 299) {
    const refusal = `it answered with status ${status}`
    throw status < 500 && !PASSING.includes(status) ? new Unusable(refusal) : new Unreachable(refusal)
  }
  const { success, output } = v.safeParse(schema, parseJson(text))
  if (!success) throw new Unusable('its answer is not as documented')
  return output
}

/** What a signed notification holds. @throws Nonsense */
export function readNotification<T>(schema: v.GenericSchema<unknown, T>, body: string): T {
  const { success, issues, output } = v.safeParse(schema, parseJson(body))
  if (!success) throw new Nonsense(v.getDotPath(issues[0]) ?? 'the body')
  return output
}

/** A page of the processor that buyers may be sent to: nobody on the way can change what they pay. */
export const HostedPage = v.pipe(
  v.string(),
  v.maxLength(2048),
  v.check((text) => URL.canParse(text) && isConfidential(new URL(text))),
)

/** A payment as the ledger takes it. */
export function paymentSeen(
  orderId: OrderId,
  payment: Pick<PaymentSeen, 'reference' | 'amount' | 'at' | 'isFinal'>,
): PaymentSeen {
  return { ...payment, scope: 'webhook', for: { orderId }, asset: ASSET }
}

/** The error a buyer gets where the processor cannot be asked: never its own words. */
export function unavailable(error: unknown, log: Log): ProtocolError {
  if (!(error instanceof Unreachable)) throw error
  log.warn('payment_processor_unreachable', { reason: error.message })
  return new ProtocolError('PAYMENTS_UNAVAILABLE')
}
