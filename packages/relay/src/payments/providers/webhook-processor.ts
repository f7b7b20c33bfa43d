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
  /** Opens an invoice. @returns the page to pay on @throws Unreachable */
  open(order: OrderToOpen): Promise<string>
  /** The text that the processor signed, of these bytes; undefined where it did not. Nothing else is ever read. */
  signedText(body: Uint8Array, headers: Headers): string | undefined
  /** What a signed notification says. @throws Nonsense, or Unreachable where the processor had to be asked */
  read(signed: string): Promise<Told>
}

/** What a notification says of an order. */
export interface Told {
  readonly seen: readonly PaymentSeen[]
  /** References of payments that came to nothing. */
  readonly gone: readonly string[]
}

/** Who signed is the processor, but what it says makes no sense here. */
export class Nonsense extends Error {
  override readonly name = 'Nonsense'
}

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
}

/** The name of what amounts are counted in: millionths of a US dollar, one for one with the stablecoin. */
export const ASSET = 'usdt'
export const DECIMALS = 6

const MOST_REPLY_BYTES = 262_144

/** Asks the processor, and checks what it answers. @throws Unreachable */
export async function ask<T>(
  url: string,
  asked: Pick<BoundedRequest, 'method' | 'headers' | 'body'>,
  schema: v.GenericSchema<unknown, T>,
): Promise<T> {
  const { status, text } = await request(url, {
    ...asked,
    headers: { 'content-type': 'application/json', ...asked.headers },
    mostBytes: MOST_REPLY_BYTES,
  })
  if (status < 200 || status > 299) throw new Unreachable(`it answered with status ${status}`)
  const { success, output } = v.safeParse(schema, parseJson(text))
  if (!success) throw new Unreachable('its answer is not as documented')
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
