// Gets a certificate by ACME (RFC 8555): an order for the host, the proof that the host is ours (HTTP-01),
// the certificate.
import type { KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import * as v from 'valibot'
import type { AcmeChallenges } from './acme-challenges.ts'
import { AcmeError, type AcmeRequestParts, AcmeRequests, parsedJson } from './acme-requests.ts'
import { certificateRequest } from './certificate-request.ts'

export interface OrderParts extends AcmeRequestParts {
  readonly email: string | undefined
  /** The DNS name or IP address. */
  readonly host: string
  /** The private key of the certificate, on the curve P-256. */
  readonly key: KeyObject
  /** The texts that port 80 answers, by token, while they wait. */
  readonly challenges: AcmeChallenges
}

/** How long the server may take to check and to sign. */
const ORDER_WITHIN_MS = 180_000
const ASK_EVERY_MS = 1000
/** Certificates for IP addresses are short-lived, and some servers issue them only under this profile. */
const SHORT_LIVED = 'shortlived'

const Order = v.object({
  status: v.string(),
  authorizations: v.array(v.string()),
  finalize: v.string(),
  certificate: v.optional(v.string()),
})
const Authorization = v.object({
  status: v.string(),
  challenges: v.array(
    v.object({
      type: v.string(),
      url: v.string(),
      token: v.optional(v.string()),
      error: v.optional(v.object({ detail: v.optional(v.string(), '') })),
    }),
  ),
})

/** @returns the certificate and those that sign it, PEM. @throws AcmeError, or what `fetch` throws */
export async function orderCertificate(parts: OrderParts): Promise<string> {
  const signal = AbortSignal.any([parts.signal, AbortSignal.timeout(ORDER_WITHIN_MS)])
  const requests = await AcmeRequests.open({ ...parts, signal })
  await requests.openAccount(parts.email)
  const type = isIP(parts.host) ? 'ip' : 'dns'
  const offered = requests.directory.meta?.profiles ?? {}
  const profile = type === 'ip' && SHORT_LIVED in offered ? { profile: SHORT_LIVED } : {}
  const made = await requests.post(requests.directory.newOrder, {
    identifiers: [{ type, value: parts.host }],
    ...profile,
  })
  const orderUrl = made.headers.get('location')
  if (orderUrl === null) throw new AcmeError('the order has no address')
  const order = parsedJson(Order, made.text)
  for (const url of order.authorizations) await prove(url, requests, { ...parts, signal })
  const csr = certificateRequest(parts.host, parts.key).toString('base64url')
  await requests.post(order.finalize, { csr })
  const ready = await until(
    async () => parsedJson(Order, (await requests.post(orderUrl)).text),
    ({ status }) => status === 'valid' || status === 'invalid',
    signal,
  )
  if (ready.status !== 'valid' || ready.certificate === undefined)
    throw new AcmeError('the server did not sign the certificate')
  return (await requests.post(ready.certificate)).text
}

async function prove(url: string, requests: AcmeRequests, { challenges, signal }: OrderParts): Promise<void> {
  const read = async (): Promise<v.InferOutput<typeof Authorization>> =>
    parsedJson(Authorization, (await requests.post(url)).text)
  const asked = await read()
  if (asked.status === 'valid') return
  const challenge = asked.challenges.find((each) => each.type === 'http-01')
  // The token is a part of a path, so it may contain nothing else (RFC 8555, 8.3).
  if (!challenge?.token || !/^[\w-]{16,256}$/.test(challenge.token))
    throw new AcmeError('the server offers no challenge by HTTP')
  const { token } = challenge
  await challenges.set(token, requests.keyAuthorization(token))
  try {
    await requests.post(challenge.url, {})
    const proved = await until(read, ({ status }) => status !== 'pending' && status !== 'processing', signal)
    if (proved.status === 'valid') return
    const why = proved.challenges.find((each) => each.error)?.error?.detail ?? proved.status
    throw new AcmeError(`the server could not see that the host is ours: ${why.slice(0, 300)}`)
  } finally {
    await challenges.delete(token)
  }
}

async function until<T>(
  read: () => Promise<T>,
  isOver: (found: T) => boolean,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    const found = await read()
    if (isOver(found)) return found
    await Bun.sleep(ASK_EVERY_MS)
    signal.throwIfAborted()
  }
}
