// The metrics that are read when somebody asks: what the relay's parts hold now, and the process.
import type { Difficulty } from './admission/admission.ts'
import { type CertificatePair, validityOf } from './certificates/certificates.ts'
import type { Bus } from './cluster/bus.ts'
import { countNodes } from './cluster/node-list.ts'
import type { Gateway } from './gateway/gateway.ts'
import { bytesOfMedia } from './media/media.ts'
import { countOpenReports } from './moderation/moderation.ts'
import type { Clock } from './operations/clock.ts'
import { countDescriptors } from './operations/descriptors.ts'
import type { DiskSpace, SpaceState } from './operations/disk-space.ts'
import { readDisk } from './operations/disks.ts'
import type { GaugeValue, Metrics } from './operations/metrics.ts'
import type { Turns } from './operations/turns.ts'
import { within } from './operations/within.ts'
import type { Folders } from './status.ts'
import type { Storage } from './storage/storage.ts'
import { version } from './version.ts'

/** What the gauges read. */
export interface GaugeParts {
  readonly storage: Storage
  readonly space: Pick<DiskSpace, 'state'>
  readonly gateway: Pick<Gateway, 'connectionCount' | 'unreadBytes' | 'heldBytes'>
  readonly commits: { readonly waitingFrames: number; readonly waitingBytes: number }
  /** Why payments wait or are lost. */
  readonly paymentTroubles: () => Promise<readonly string[]>
  /** The certificate that new connections get; undefined if the relay speaks no TLS. */
  readonly certificate: () => CertificatePair | undefined
  readonly difficulty: Difficulty
  readonly bus: Pick<Bus, 'state'>
  /** The kinds of work that one node does at a time. */
  readonly leases: Readonly<Record<string, Turns>>
  readonly folders: Folders
  readonly descriptorLimit: number
  readonly clock: Clock
}

const STORE_ANSWERS_WITHIN_MS = 2000
const STATES: readonly SpaceState[] = ['ok', 'short', 'full']

export function addGauges(metrics: Metrics, parts: GaugeParts): void {
  const { storage, gateway, commits } = parts
  // A store that does not answer must not keep the other metrics back, and is not asked again until it does.
  const fromStore = <Value>(read: () => Promise<Value>): (() => Promise<Value>) => {
    let asked: Promise<Value> | undefined
    return async () => {
      asked ??= read().finally(() => {
        asked = undefined
      })
      const value = asked
      if (await within(STORE_ANSWERS_WITHIN_MS, value)) return await value
      throw new Error('the store does not answer')
    }
  }
  metrics.gauge('sotto_build_info', 'Always 1; the label is the version.', () => ({ [version]: 1 }), {
    label: 'version',
  })
  metrics.gauge('sotto_connections', 'Open WebSockets of accounts.', () => gateway.connectionCount)
  metrics.gauge(
    'sotto_unread_bytes',
    'Bytes sent that the peers have not received yet.',
    () => gateway.unreadBytes,
  )
  metrics.gauge('sotto_held_bytes', 'Bytes of frames that wait for their rates.', () => gateway.heldBytes)
  metrics.gauge(
    'sotto_commit_waiting_frames',
    'Frames that wait for their commit.',
    () => commits.waitingFrames,
  )
  metrics.gauge(
    'sotto_commit_waiting_bytes',
    'Memory of the frames that wait for their commit.',
    () => commits.waitingBytes,
  )
  metrics.gauge('sotto_proof_of_work_zeros', 'Zeros that the proof of work of a registration needs.', () =>
    parts.difficulty.current(),
  )
  metrics.gauge(
    'sotto_database_bytes',
    'Size of the database.',
    fromStore(async () => (await storage.size()).bytes),
  )
  metrics.gauge(
    'sotto_database_reusable_bytes',
    'Bytes of the database that new rows use before it grows.',
    fromStore(async () => (await storage.size()).reusableBytes),
  )
  metrics.gauge(
    'sotto_media_bytes',
    'Bytes of all media of accounts.',
    fromStore(() => bytesOfMedia(storage.sql)),
  )
  const { database, media } = parts.folders
  const ofDisks = (figure: 'freeBytes' | 'totalBytes') => async (): Promise<GaugeValue> => ({
    database: database === undefined ? undefined : (await readDisk(database))?.[figure],
    media: (await readDisk(media))?.[figure],
  })
  metrics.gauge('sotto_disk_free_bytes', 'Free space of a disk.', ofDisks('freeBytes'), { label: 'disk' })
  metrics.gauge('sotto_disk_size_bytes', 'Size of a disk.', ofDisks('totalBytes'), { label: 'disk' })
  metrics.gauge(
    'sotto_storage_state',
    'Whether the store is in this state: ok, short (less is taken) or full (nothing new is).',
    () => Object.fromEntries(STATES.map((state) => [state, state === parts.space.state ? 1 : 0])),
    { label: 'state' },
  )
  metrics.gauge('sotto_bus_up', 'Whether the relay hears what it tells other nodes.', () =>
    parts.bus.state.isHeard ? 1 : 0,
  )
  metrics.gauge(
    'sotto_bus_nodes',
    'Nodes that the relay hears, itself included.',
    () => parts.bus.state.nodes,
  )
  addBusGauges(metrics, parts)
  metrics.gauge(
    'sotto_nodes',
    'Nodes in the list of the shared database, by state: alive, draining or silent.',
    fromStore(() => countNodes(storage)),
    { label: 'state' },
  )
  metrics.gauge(
    'sotto_lease_held',
    'Whether this node does the work that one node does at a time, by lease.',
    () =>
      Object.fromEntries(Object.entries(parts.leases).map(([name, { current }]) => [name, current ? 1 : 0])),
    { label: 'lease' },
  )
  metrics.gauge(
    'sotto_payment_troubles',
    'Reasons why payments wait, and 1 if one is lost; /ready names them.',
    fromStore(async () => (await parts.paymentTroubles()).length),
  )
  metrics.gauge(
    'sotto_open_reports',
    'Reports by people that the operator has not marked as done.',
    fromStore(() => countOpenReports(storage.sql)),
  )
  const ofCertificate = (figure: 'fromMs' | 'toMs') => (): number | undefined => {
    const pair = parts.certificate()
    return pair && validityOf(pair)[figure] / 1000
  }
  metrics.gauge(
    'sotto_certificate_start_timestamp_seconds',
    'When the certificate begins, in Unix time.',
    ofCertificate('fromMs'),
  )
  metrics.gauge(
    'sotto_certificate_end_timestamp_seconds',
    'When the certificate ends, in Unix time.',
    ofCertificate('toMs'),
  )
  addProcessGauges(metrics, parts)
}

function addBusGauges(metrics: Metrics, { bus }: GaugeParts): void {
  metrics.gauge(
    'sotto_bus_packets_total',
    'Packets between nodes, sent by this node or received from others, heartbeats included.',
    () => ({ sent: bus.state.sent, received: bus.state.received }),
    { label: 'direction', type: 'counter' },
  )
  metrics.gauge(
    'sotto_bus_gaps_total',
    'How often packets of other nodes were missing, or may have been because the node is new.',
    () => bus.state.gaps,
    { type: 'counter' },
  )
  metrics.gauge(
    'sotto_bus_looks_total',
    'How often the relay looked into the store for what other nodes may have told.',
    () => bus.state.looks,
    { type: 'counter' },
  )
}

// The names that Prometheus’s own libraries give them.
function addProcessGauges(metrics: Metrics, { descriptorLimit, clock }: GaugeParts): void {
  const startedAt = clock.now() / 1000 - process.uptime()
  metrics.gauge(
    'process_cpu_seconds_total',
    'Processor time of the process, in seconds.',
    () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1_000_000
    },
    { type: 'counter' },
  )
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  metrics.gauge('process_start_time_seconds', 'When the process started, in Unix time.', () => startedAt)
  metrics.gauge('process_open_fds', 'Open file descriptors.', () => countDescriptors(descriptorLimit))
  metrics.gauge('process_max_fds', 'The most file descriptors that may be open.', () => descriptorLimit)
}
