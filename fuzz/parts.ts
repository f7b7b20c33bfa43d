// Every part of the fuzz program.
import { decoders } from './decoders.ts'
import { media } from './media.ts'
import { operator } from './operator.ts'
import type { Part } from './part.ts'
import { routes } from './routes.ts'
import { sockets } from './sockets.ts'
import { btcPay, nowPayments } from './webhooks.ts'

export const parts: readonly Part[] = [decoders, routes, sockets, media, nowPayments, btcPay, operator]
