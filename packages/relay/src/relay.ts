// Builds the relay's parts and wires them.
import { admit, authenticate, farewellOf } from './accounts/admission.ts'
import { purgeExpired } from './accounts/purge.ts'
import { openRelayKeys } from './accounts/relay-keys.ts'
import { accountRoutes } from './accounts/routes.ts'
import { Tokens } from './accounts/tokens.ts'
import { createCalls } from './calls/calls.ts'
import { createChannels, eraseChannels } from './channels/channels.ts'
import { createInProcessBus } from './cluster/in-process-bus.ts'
import type { Config } from './config.ts'
import { eraseFriendships, friendRoutes } from './friends/friends.ts'
import { Gateway } from './gateway/gateway.ts'
import { goods } from './goods.ts'
import { startListener } from './listener/listener.ts'
import { RateLimiter } from './listener/rate-limiter.ts'
import { createMedia, eraseMedia, openBlobStore } from './media/media.ts'
import { createMessages, eraseMailbox } from './messages/messages.ts'
import type { Clock } from './operations/clock.ts'
import type { Log } from './operations/log.ts'
import { startMaintenance } from './operations/maintenance.ts'
import { operatorDoorOf, startOperatorDoor } from './operations/operator-door.ts'
import type { RandomBytes } from './operations/random.ts'
import { orderCommands } from './payments/operator-orders.ts'
import { createPayments, createProvider, eraseOrders } from './payments/payments.ts'
import { createPush, erasePush, makeVapidSecret } from './push/push.ts'
import { openStorage } from './storage/open-storage.ts'
import type { Storage } from './storage/storage.ts'
import { VanityRules, vanityRoutes } from './vanity/vanity.ts'
import { version } from './version.ts'

const MAINTENANCE_EVERY_MS = 60_000
const READY_WITHIN_MS = 2000

/** A running relay. */
export interface Relay {
  /** The port it listens on. */
  readonly port: number
  /** Finishes what is in flight, tells every connection to come back (1012), and closes the store. */
  stop(): Promise<void>
}

interface Parts {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
}

/** Starts a relay. @throws where the store or the port cannot be had */
export async function startRelay(config: Config, parts: Parts): Promise<Relay> {
  const storage = await openStorage(config)
  try {
    return await startOn(storage, config, parts)
  } catch (error) {
    await storage.close() // Whoever tries again must find it free.
    throw error
  }
}

async function startOn(storage: Storage, config: Config, parts: Parts): Promise<Relay> {
  const { clock, randomBytes, log } = parts
  const { limits, publicUrl } = config
  const bus = createInProcessBus()
  const shared = { storage, bus, clock, randomBytes, limits, log }

  const challengeKeys = await openRelayKeys(storage, 'challenge', parts)
  const keys = await openRelayKeys(storage, 'token', parts)
  const vapidKeys = await openRelayKeys(storage, 'vapid', { ...parts, makeSecret: makeVapidSecret })
  const tokens = new Tokens({ ...shared, keys, lifeSeconds: limits.tokenSeconds })
  const messages = createMessages(shared)
  const payments = createPayments({
    ...shared,
    publicUrl,
    provider: createProvider(config.payments, { ...shared, publicUrl }),
    goods,
    mayExpire: () => messages.expiry.mayExpire(),
  })
  const { orders, ledger } = payments
  const channels = createChannels({ ...shared, orders, publicUrl })
  const media = createMedia({
    ...shared,
    publicUrl,
    store: await openBlobStore(config, { storage, ...parts }),
    linkKeys: await openRelayKeys(storage, 'media', parts),
  })
  const vanityRules = new VanityRules(config.vanityRules, parts)
  const push = createPush({ ...shared, config: config.push, vapidKeys })
  const calls = createCalls({
    ...shared,
    iceServers: config.iceServers,
    onOfferWaits: (account) => push.wakeForCall(account),
  })
  const gateway = new Gateway({
    ...shared,
    rates: config.rates,
    handlers: messages.frames,
    calls: calls.handler,
    follower: messages.follower,
    watchers: [channels.follower, calls.follower, push.follower],
    farewellOf: (owner) => farewellOf(owner, { storage }),
    retireToken: ({ jti, tokenExpiresAt }) => tokens.kill(jti, 'replaced', tokenExpiresAt),
  })
  const rates = new RateLimiter(config.rates, clock)
  const listener = startListener({
    ...config,
    log,
    gateway,
    rates,
    version,
    publicHost: publicUrl?.host,
    pages: payments.pages,
    authenticate: (token) => authenticate(token, { tokens }),
    admit: (credentials) => admit(credentials, { storage, tokens, clock }),
    handlers: {
      ...accountRoutes({
        ...shared,
        tokens,
        challengeKeys,
        erasers: [eraseMailbox, eraseFriendships, eraseChannels, eraseOrders, erasePush, eraseMedia],
      }),
      ...friendRoutes(shared),
      ...messages.routes,
      ...channels.routes,
      ...calls.routes,
      ...payments.routes,
      ...media.routes,
      ...vanityRoutes({ ...shared, rules: vanityRules, orders, publicUrl }),
      ...push.routes,
    },
    readiness: async () => {
      const answers = await within(READY_WITHIN_MS, storage.ping()).catch(() => false)
      const isStopped = answers && (await messages.expiry.isStopped())
      return {
        ready: answers,
        parts: { storage: answers ? 'ok' : 'failing', expiry: isStopped ? 'stopped' : 'ok' },
      }
    },
  })
  await payments.start()
  await push.start()
  const door = await startOperatorDoor({
    path: operatorDoorOf(config.dataDir),
    commands: orderCommands({ storage, ledger, clock }),
    log,
  })
  const maintenance = startMaintenance(
    [
      { name: 'expiry', run: (signal) => messages.expiry.sweep(signal) },
      {
        name: 'accounts',
        run: async () => {
          // A clock that jumped ahead must not make the relay forget which tokens were revoked.
          if (await messages.expiry.mayExpire()) await purgeExpired(storage, clock.now())
        },
      },
      {
        name: 'media',
        run: async (signal) => media.sweep(signal, await messages.expiry.mayExpire()),
      },
      {
        name: 'orders',
        run: async () => {
          // A clock that jumped ahead must not end orders that have their time.
          if (await messages.expiry.mayExpire()) await payments.sweep()
        },
      },
      { name: 'push', run: (signal) => push.sweep(signal) },
      { name: 'rates', run: () => rates.forget() },
      { name: 'offers', run: () => calls.forget() },
      { name: 'paces', run: () => gateway.forgetPaces() },
    ],
    MAINTENANCE_EVERY_MS,
    log,
  )
  return {
    port: listener.port,
    stop: async () => {
      const mostMs = config.drainSeconds * 1000
      listener.refuse()
      gateway.stopReceiving()
      const parts = [door.stop(), maintenance.stop(), payments.stop(), push.stop(), messages.settle()]
      await within(mostMs, Promise.all(parts))
      await gateway.closeAll(mostMs)
      await listener.close(mostMs)
      await within(mostMs, storage.close())
    },
  }
}

/** Waits for something, but no longer than that. @returns whether it came */
async function within(mostMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), mostMs)
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
