// Builds the relay's parts and wires them.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccountDeletion } from './account-deletion.ts'
import { lockAccounts } from './accounts/accounts.ts'
import { admit, authenticate, deadTokenReasonsOf } from './accounts/admission.ts'
import { LogoutWatch } from './accounts/logouts.ts'
import { openRelayKeys } from './accounts/relay-keys.ts'
import { accountRoutes } from './accounts/routes.ts'
import { Tickets } from './accounts/tickets.ts'
import { Tokens } from './accounts/tokens.ts'
import { AdminPage } from './admin/admin-page.ts'
import { DayFigures } from './admin/day-figures.ts'
import { Difficulty, memberInviteRoutes, openGate } from './admission/admission.ts'
import { createCalls } from './calls/calls.ts'
import { AcmeChallenges, openCertificates } from './certificates/certificates.ts'
import { createChannels } from './channels/channels.ts'
import { Lease } from './cluster/lease.ts'
import { NodeList } from './cluster/node-list.ts'
import { openBus } from './cluster/open-bus.ts'
import type { Config } from './config.ts'
import { friendRoutes } from './friends/friends.ts'
import { Epochs } from './gateway/epochs.ts'
import { Gateway } from './gateway/gateway.ts'
import { addGauges } from './gauges.ts'
import { createGoods } from './goods.ts'
import { keyPackageRoutes } from './key-packages/key-packages.ts'
import { startListener } from './listener/listener.ts'
import { startMetricsPort } from './listener/metrics-port.ts'
import { operatorSocketOf, startOperatorSocket } from './listener/operator-socket.ts'
import { startPlainPort } from './listener/plain-port.ts'
import { RequestRates } from './listener/request-rates.ts'
import { readWebApp } from './listener/web-app.ts'
import { maintenanceTasks } from './maintenance-tasks.ts'
import { bytesOfMedia, createMedia, mediaBudgetOf, mediaOriginOf, openBlobStore } from './media/media.ts'
import { createMessages } from './messages/messages.ts'
import { reportRoutes } from './moderation/moderation.ts'
import { bareHost } from './operations/bare-host.ts'
import type { Clock } from './operations/clock.ts'
import { ClockTrust } from './operations/clock-trust.ts'
import { logDatabase, withoutDatabaseAway } from './operations/database-log.ts'
import { readDescriptorLimit } from './operations/descriptors.ts'
import { DiskSpace } from './operations/disk-space.ts'
import { DurabilityCheck } from './operations/durability-check.ts'
import { measureEventLoopDelay } from './operations/event-loop-delay.ts'
import type { Log } from './operations/log.ts'
import { LogTail } from './operations/log-tail.ts'
import { startMaintenance } from './operations/maintenance.ts'
import { nameInStore } from './operations/name-in-store.ts'
import { publicAddress } from './operations/public-url.ts'
import type { RandomBytes } from './operations/random.ts'
import { readReadiness } from './operations/readiness.ts'
import { RelayMetrics } from './operations/relay-metrics.ts'
import { sharedHashes } from './operations/settings-in-force.ts'
import { within } from './operations/within.ts'
import { createOperatorCommands, foldersOf, openKeyRings, openSecurityLogOf } from './operator-commands.ts'
import { createPayments } from './payments/payments.ts'
import { createPush } from './push/push.ts'
import { schema } from './storage/migrations.ts'
import { openStorage } from './storage/open-storage.ts'
import { reportingFull, type Storage } from './storage/storage.ts'
import type { Succession } from './succession/succession.ts'
import { ReserveRate, VanityRules, vanityRoutes } from './vanity/vanity.ts'
import { version } from './version.ts'

/** A running relay. */
export interface Relay {
  /** The port it listens on. */
  readonly port: number
  /**
   * Finishes the running work, closes every connection with 1012 (reconnect later), and closes the store.
   * @param options.untilClosed whether to wait until an embedded store is closed, however long that takes,
   * because the next process opens it
   */
  stop(options?: { readonly untilClosed: boolean }): Promise<void>
}

interface Parts {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
  /** Aborted when the relay is to stop, also while it starts. */
  readonly signal?: AbortSignal
  /** Lets the operator replace the process by a new version. */
  readonly succession?: Succession
  /** The number of this process if several serve the port. */
  readonly worker?: number | undefined
}

/** Starts a relay. @throws if the store or the port is not available */
export async function startRelay(config: Config, parts: Parts): Promise<Relay> {
  const metrics = new RelayMetrics(parts)
  const opened = new AsyncDisposableStack()
  try {
    // The metrics of workers are read together.
    const isMeasuredAlone = parts.worker === undefined
    const metricsPort =
      isMeasuredAlone && config.metrics ? startMetricsPort(config.metrics, metrics.all) : undefined
    opened.defer(() => metricsPort?.stop())
    const storage = await openStorage(config)
    opened.defer(() => storage.close())
    const tail = new LogTail(parts)
    const log = withoutDatabaseAway(tail.kept(metrics.counted(parts.log), config.logLevel))
    logDatabase(storage, { ...parts, log })
    const relay = await startOn(storage, config, { ...parts, log, metrics, tail, opened })
    const stop: Relay['stop'] = async (options) => {
      await metricsPort?.stop()
      await relay.stop(options)
    }
    return { port: relay.port, stop }
  } catch (error) {
    await opened.disposeAsync() // Otherwise the next attempt would find the store and the ports in use.
    throw error
  }
}

async function startOn(
  store: Storage,
  config: Config,
  parts: Parts & {
    readonly metrics: RelayMetrics
    readonly tail: LogTail
    /** What a failed start must close. */
    readonly opened: AsyncDisposableStack
  },
): Promise<Relay> {
  const { clock, randomBytes, log, metrics, opened } = parts
  const { limits, publicUrl } = config
  const startedAt = clock.monotonic()
  const folders = foldersOf(config)
  const challenges = new AcmeChallenges({ storage: store, clock })
  const sharesPort = parts.worker !== undefined
  const { httpPort } = config.certificates
  const plainPort =
    httpPort === undefined || !publicUrl
      ? undefined
      : startPlainPort({
          ...{ host: config.host, port: httpPort, address: publicAddress(publicUrl) },
          ...{ challenges, sharesPort },
        })
  opened.defer(() => plainPort?.stop())
  const certificateLease = new Lease('certificates', { ...parts, storage: store })
  opened.defer(() => certificateLease.stop())
  if (config.certificates.acme) await certificateLease.start()
  const certificates = await openCertificates(config.certificates, {
    ...{ clock, randomBytes, log, challenges, storage: store, turns: certificateLease },
    signal: parts.signal ?? new AbortController().signal,
    host: publicUrl && bareHost(publicUrl.hostname),
    folder: join(config.dataDir, 'certificates'),
  })
  opened.defer(() => certificates?.stop())
  const app = config.appDir === undefined ? undefined : readWebApp(config.appDir, originsOf(config))
  const space = new DiskSpace({
    ...parts,
    storage: store,
    config: config.space,
    databaseFolder: folders.database,
    mediaFolder: folders.media,
    mediaBytes: () => bytesOfMedia(store.sql),
  })
  const storage = reportingFull(store, () => space.reportFull())
  const bus = await openBus(config, { ...parts, storage })
  opened.defer(() => bus.stop())
  const clockTrust = new ClockTrust({ storage, clock, log })
  const durability = new DurabilityCheck({ storage, log })
  await durability.run()
  const securityLog = await openSecurityLogOf(config, { storage, ...parts })
  const shared = { storage, bus, clock, clockTrust, randomBytes, limits, space, log, metrics, securityLog }

  const keyRings = await openKeyRings(shared)
  const gate = openGate({ ...config.admission, clock })
  const difficulty = new Difficulty({
    ...{ clock, log, least: limits.powDifficulty, most: config.admission.powMost },
    risesAt: config.rates ? config.admission.powRisesAt : undefined,
  })
  const tokens = new Tokens({ ...shared, keys: keyRings.live('token'), lifeSeconds: limits.tokenSeconds })
  const tickets = new Tickets({ ...shared, lifeSeconds: limits.ticketSeconds })
  const messages = createMessages({ ...shared, incarnation: await nameInStore('incarnation', shared) })
  await messages.sentIdCounts.load()
  const vanityRules = new VanityRules(config.vanityRules, parts)
  const paymentLease = new Lease('payments', shared)
  const sweepLease = new Lease('sweeps', shared)
  const payments = createPayments({
    ...shared,
    publicUrl,
    config: config.payments,
    turns: paymentLease,
    goods: createGoods(vanityRules),
    isClockTrusted: () => clockTrust.isTrusted(),
  })
  const { orders, describePaying, ledger, methods } = payments
  const channels = createChannels({ ...shared, orders, describePaying })
  const rates = new RequestRates(config.rates, shared)
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
  // An embedded store has one node, whose memory knows which connection is the newest.
  const epochs = storage.engine.dialect === 'postgres' ? new Epochs(shared) : undefined
  const calls = createCalls({
    ...shared,
    iceServers: config.iceServers,
    isConnectedElsewhere: epochs && ((account) => epochs.isConnectedElsewhere(account)),
    onOfferWaits: (account) => push.wakeForCall(account),
  })
  const gateway = new Gateway({
    ...shared,
    epochs,
    rates: config.rates,
    handlers: messages.frames,
    calls: calls.handler,
    follower: messages.follower,
    watchers: [channels.follower, calls.follower, push.follower],
    deadTokenReasonsOf: (owners) => deadTokenReasonsOf(owners, { storage, tokens }),
    retireToken: ({ jti, tokenExpiresAt }) => tokens.kill(jti, 'replaced', tokenExpiresAt),
  })
  const deletion = createAccountDeletion(shared)
  keyRings.onTokensRevoked = () => gateway.closeDeadTokens((jti) => tokens.hasKeyOf(jti))
  const checkKeys = () => keyRings.check().catch((error) => log.error('keys_unread', { error }))
  bus.listenToKeys(checkKeys)
  bus.listenToLoss(checkKeys)
  await space.start()
  if (storage.engine.dialect === 'sqlite') await storage.engine.startCheckpoints()
  const descriptorLimit = readDescriptorLimit()
  let isDraining = false
  const readiness = () =>
    readReadiness({ ...shared, durability, paymentTroubles: payments.troubles, isDraining })
  const listener = startListener({
    ...config,
    log,
    clock,
    metrics,
    descriptorLimit,
    gateway,
    rates,
    space,
    version,
    publicHost: publicUrl?.host,
    isSecure: publicUrl?.protocol === 'https:',
    certificate: certificates?.pair,
    plainPort: httpPort,
    sharesPort,
    pages: payments.pages,
    app,
    authenticate: (token, endpoint) => authenticate(token, endpoint, { tokens }),
    admit: (credentials) => admit(credentials, { tokens, tickets, clock }),
    handlers: {
      ...accountRoutes({
        ...shared,
        tokens,
        tickets,
        challengeKeys: keyRings.live('challenge'),
        deletion,
        gate,
        difficulty,
      }),
      ...memberInviteRoutes({
        ...{ ...shared, ...config.admission },
        lockAccount: (sql, account) => lockAccounts(sql, [account]),
      }),
      ...friendRoutes({ ...shared, friendListReplies: messages.friendListReplies }),
      ...messages.routes,
      ...keyPackageRoutes(shared),
      ...channels.routes,
      ...calls.routes,
      ...payments.routes,
      ...media.routes,
      ...vanityRoutes({ ...shared, rules: vanityRules, orders, reserveRate, describePaying }),
      ...push.routes,
      ...reportRoutes(shared),
    },
    readiness,
  })
  opened.defer(() => listener.close(0))
  let certificate = certificates?.pair
  certificates?.watch((pair) => {
    certificate = pair
    listener.useCertificate(pair)
  })
  addGauges(metrics.all, {
    ...shared,
    gateway,
    descriptorLimit,
    folders,
    commits: messages.waiting,
    difficulty,
    leases: {
      ...{ payments: paymentLease, sweeps: sweepLease },
      ...(config.certificates.acme && { certificates: certificateLease }),
    },
    paymentTroubles: payments.troubles,
    certificate: () => certificate,
  })
  const eventLoopDelay = config.metrics && measureEventLoopDelay(metrics.all, clock)
  await paymentLease.start()
  await payments.watcher.start()
  await push.start()
  deletion.start()
  channels.purges.start()
  const figures = new DayFigures({
    ...shared,
    connections: () => gateway.connectionCount,
    mediaBytes: () => bytesOfMedia(storage.sql),
  })
  const adminPage = new AdminPage({ ...parts, folder: config.adminDir })
  const operatorSocket = await startOperatorSocket({
    path: operatorSocketOf(config.dataDir, parts.worker),
    commands: {
      metrics: () => metrics.all.text(),
      ...createOperatorCommands({
        purgeChannel: (channel) => channels.purges.purge(channel),
        ...{ ...shared, ledger, keyRings, methods, folders, publicUrl, deletion },
        registration: config.admission.registration,
        running: {
          startedAt,
          node: bus.node,
          connections: () => gateway.connectionCount,
          storageState: () => space.state,
          certificate: () => certificate,
          paymentTroubles: payments.troubles,
          admin: { page: adminPage, tail: parts.tail, inForce: config.inForce, figures },
        },
      }),
      ...parts.succession?.commands(readiness),
    },
    log,
  })
  const nodeList = new NodeList({
    ...{ ...shared, version, schema, port: listener.port, worker: parts.worker },
    settings: sharedHashes(config.inForce),
    report: () => ({ connections: gateway.connectionCount, registrations: difficulty.registrations }),
    onRegistrationsElsewhere: (count) => difficulty.countElsewhere(count),
  })
  await nodeList.start()
  await sweepLease.start()
  const maintenance = startMaintenance(
    maintenanceTasks({
      ...shared,
      logoutWatch: new LogoutWatch(shared),
      keyRings,
      durability,
      difficulty,
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
      certificates,
      adminPage,
      figures,
    }),
    { ...shared, turns: sweepLease },
  )
  return {
    port: listener.port,
    stop: async (options) => {
      const mostMs = config.drainSeconds * 1000
      const drained = nodeList.drain()
      isDraining = true
      await sleep(config.drainNoticeSeconds * 1000)
      certificates?.stop()
      listener.refuse()
      gateway.stopReceiving()
      const parts = [
        operatorSocket.stop(),
        adminPage.close(),
        maintenance.stop().then(() => sweepLease.stop()),
        certificateLease.stop(),
        payments.watcher.stop().then(() => paymentLease.stop()),
        push.stop(),
        space.stop(),
        deletion.stop(),
        channels.purges.stop(),
        // Frames that came before their connection's epoch was known wait for it.
        Promise.resolve(epochs?.settled()).then(() => messages.settle()),
        drained,
      ]
      await within(mostMs, Promise.all(parts))
      eventLoopDelay?.stop()
      await gateway.closeAll(mostMs)
      await within(mostMs, nodeList.stop())
      await within(mostMs, bus.stop())
      await listener.close(mostMs)
      await plainPort?.stop()
      securityLog.sweep()
      const closed = storage.close()
      if (options?.untilClosed && storage.engine.dialect === 'sqlite') await closed
      else await within(mostMs, closed)
    },
  }
}

/** The origins besides its own that links of this relay name. */
function originsOf({ media, publicUrl }: Config): string[] {
  return [publicUrl?.origin, mediaOriginOf(media)].filter((origin) => origin !== undefined)
}
