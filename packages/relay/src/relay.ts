// Builds the relay's parts and wires them.
import { admit, authenticate, deadTokenReasonOf } from './accounts/admission.ts'
import { AccountDeletion } from './accounts/deletion.ts'
import { LogoutWatch } from './accounts/logouts.ts'
import { openRelayKeys } from './accounts/relay-keys.ts'
import { accountRoutes } from './accounts/routes.ts'
import { Tokens } from './accounts/tokens.ts'
import { createCalls } from './calls/calls.ts'
import { createChannels, endChannels, eraseChannels } from './channels/channels.ts'
import { createInProcessBus } from './cluster/in-process-bus.ts'
import type { Config } from './config.ts'
import { eraseFriendships, friendRoutes } from './friends/friends.ts'
import { Gateway } from './gateway/gateway.ts'
import { createGoods } from './goods.ts'
import { startListener } from './listener/listener.ts'
import { operatorSocketOf, startOperatorSocket } from './listener/operator-socket.ts'
import { RequestRates } from './listener/request-rates.ts'
import { readWebApp } from './listener/web-app.ts'
import { maintenanceTasks } from './maintenance-tasks.ts'
import {
  bytesOfMedia,
  createMedia,
  eraseMedia,
  mediaBudgetOf,
  mediaFolderOf,
  mediaOriginOf,
  openBlobStore,
} from './media/media.ts'
import { createMessages, eraseMailbox } from './messages/messages.ts'
import type { Clock } from './operations/clock.ts'
import { ClockTrust } from './operations/clock-trust.ts'
import { readDescriptorLimit } from './operations/descriptors.ts'
import { DiskSpace } from './operations/disk-space.ts'
import { DurabilityCheck } from './operations/durability-check.ts'
import type { Log } from './operations/log.ts'
import { startMaintenance } from './operations/maintenance.ts'
import type { RandomBytes } from './operations/random.ts'
import { readReadiness } from './operations/readiness.ts'
import { within } from './operations/within.ts'
import { createOperatorCommands, openKeyRings } from './operator-commands.ts'
import { createMethods, createPayments, eraseOrders } from './payments/payments.ts'
import { createPush, erasePush } from './push/push.ts'
import { openStorage } from './storage/open-storage.ts'
import { reportingFull, type Storage } from './storage/storage.ts'
import { ReserveRate, VanityRules, vanityRoutes } from './vanity/vanity.ts'
import { version } from './version.ts'

/** A running relay. */
export interface Relay {
  /** The port it listens on. */
  readonly port: number
  /** Finishes the running work, closes every connection with 1012 (reconnect later), and closes the store. */
  stop(): Promise<void>
}

interface Parts {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
}

/** Starts a relay. @throws if the store or the port is not available */
export async function startRelay(config: Config, parts: Parts): Promise<Relay> {
  const storage = await openStorage(config)
  try {
    return await startOn(storage, config, parts)
  } catch (error) {
    await storage.close() // Otherwise the next attempt would find the store in use.
    throw error
  }
}

async function startOn(store: Storage, config: Config, parts: Parts): Promise<Relay> {
  const { clock, randomBytes, log } = parts
  const { limits, publicUrl } = config
  const app = config.appDir === undefined ? undefined : readWebApp(config.appDir, originsOf(config))
  const space = new DiskSpace({
    ...parts,
    storage: store,
    config: config.space,
    databaseFolder: config.databaseUrl === undefined ? config.dataDir : undefined,
    mediaFolder: mediaFolderOf(config.media, config.dataDir),
    mediaBytes: () => bytesOfMedia(store.sql),
  })
  const storage = reportingFull(store, () => space.reportFull())
  const bus = createInProcessBus()
  const clockTrust = new ClockTrust({ storage, clock, log })
  const durability = new DurabilityCheck({ storage, log })
  await durability.run()
  const shared = { storage, bus, clock, clockTrust, randomBytes, limits, space, log }

  const keyRings = await openKeyRings(shared)
  const tokens = new Tokens({ ...shared, keys: keyRings.live('token'), lifeSeconds: limits.tokenSeconds })
  const messages = createMessages(shared)
  await messages.sentIdCounts.load()
  const vanityRules = new VanityRules(config.vanityRules, parts)
  const methods = createMethods(config.payments, { ...shared, publicUrl })
  const payments = createPayments({
    ...shared,
    publicUrl,
    methods,
    goods: createGoods(vanityRules),
    isClockTrusted: () => clockTrust.isTrusted(),
  })
  const { orders, describePaying, ledger } = payments
  const channels = createChannels({ ...shared, orders, describePaying })
  const rates = new RequestRates(config.rates, parts)
  const media = createMedia({
    ...shared,
    rates,
    publicUrl,
    store: await openBlobStore(config, { storage, ...parts }),
    linkKeys: keyRings.live('media'),
    budgetBytes: () => mediaBudgetOf(config.media, space.mediaDiskBytes),
  })
  const [{ secret }] = await openRelayKeys(storage, 'reserve', parts)
  const reserveRate = new ReserveRate({ ...shared, rates: config.rates, secret })
  const push = createPush({ ...shared, config: config.push, vapidKeys: keyRings.live('vapid') })
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
    deadTokenReasonOf: (owner) => deadTokenReasonOf(owner, { storage, tokens }),
    retireToken: ({ jti, tokenExpiresAt }) => tokens.kill(jti, 'replaced', tokenExpiresAt),
  })
  const deletion = new AccountDeletion({
    ...shared,
    endings: [eraseOrders, endChannels, erasePush],
    erasers: [eraseMailbox, eraseFriendships, eraseChannels, eraseMedia],
  })
  keyRings.onTokensRevoked = () => gateway.closeDeadTokens((jti) => tokens.hasKeyOf(jti))
  bus.listenToKeys(() => {
    keyRings.check().catch((error) => log.error('keys_unread', { error }))
  })
  await space.start()
  if (storage.engine.dialect === 'sqlite') await storage.engine.startCheckpoints()
  const listener = startListener({
    ...config,
    log,
    clock,
    descriptorLimit: readDescriptorLimit(),
    gateway,
    rates,
    space,
    version,
    publicHost: publicUrl?.host,
    isSecure: publicUrl?.protocol === 'https:',
    pages: payments.pages,
    app,
    authenticate: (token) => authenticate(token, { tokens }),
    admit: (credentials) => admit(credentials, { storage, tokens, clock }),
    handlers: {
      ...accountRoutes({ ...shared, tokens, challengeKeys: keyRings.live('challenge'), deletion }),
      ...friendRoutes({ ...shared, friendListReplies: messages.friendListReplies }),
      ...messages.routes,
      ...channels.routes,
      ...calls.routes,
      ...payments.routes,
      ...media.routes,
      ...vanityRoutes({ ...shared, rules: vanityRules, orders, reserveRate, describePaying }),
      ...push.routes,
    },
    readiness: () => readReadiness({ ...shared, durability, paymentTroubles: payments.troubles }),
  })
  await payments.start()
  await push.start()
  deletion.start()
  channels.purges.start()
  const operatorSocket = await startOperatorSocket({
    path: operatorSocketOf(config.dataDir),
    commands: createOperatorCommands({ ...shared, ledger, keyRings, methods }),
    log,
  })
  const maintenance = startMaintenance(
    maintenanceTasks({
      ...shared,
      logoutWatch: new LogoutWatch(shared),
      keyRings,
      durability,
      deletion,
      channels,
      messages,
      media,
      payments,
      reserveRate,
      push,
      calls,
      gateway,
      rates,
    }),
    shared,
  )
  return {
    port: listener.port,
    stop: async () => {
      const mostMs = config.drainSeconds * 1000
      listener.refuse()
      gateway.stopReceiving()
      const parts = [
        operatorSocket.stop(),
        maintenance.stop(),
        payments.stop(),
        push.stop(),
        space.stop(),
        deletion.stop(),
        channels.purges.stop(),
        messages.settle(),
      ]
      await within(mostMs, Promise.all(parts))
      await gateway.closeAll(mostMs)
      await listener.close(mostMs)
      await within(mostMs, storage.close())
    },
  }
}

/** The origins besides its own that links of this relay name. */
function originsOf({ media, publicUrl }: Config): string[] {
  return [publicUrl?.origin, mediaOriginOf(media)].filter((origin) => origin !== undefined)
}
