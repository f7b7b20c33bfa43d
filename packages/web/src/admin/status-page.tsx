// What the relay does now: what `sotto status` says.
import type { ComponentChildren } from 'preact'
import { nowMs } from '../session/clock.ts'
import { adminTexts } from '../texts/admin.ts'
import { fullTime, numberOf, sizeOf } from '../texts/dates.ts'
import { Answered } from './answered.tsx'
import type { Node, Status } from './answers.ts'
import { Fact } from './fact.tsx'
import { useAnswer } from './use-answer.ts'

const EVERY_MS = 5000
const DAY_MS = 86_400_000
/** A certificate that ends sooner is named above the figures. */
const SOON_DAYS = 2

export function StatusPage() {
  const read = useAnswer('status', { everyMs: EVERY_MS })
  return (
    <Answered read={read}>
      {(status) => (
        <>
          <Warnings status={status} />
          <Cards status={status} />
        </>
      )}
    </Answered>
  )
}

/** What the operator has to do something about. */
function Warnings({ status: { relay, nodes, is_expiry_stopped } }: { readonly status: Status }) {
  const t = adminTexts.value.status
  const end = relay?.certificate_ends_at
  const isEndingSoon = typeof end === 'string' && Date.parse(end) - nowMs() < SOON_DAYS * DAY_MS
  const lines = [
    ...(relay && relay.storage !== 'ok' ? [t.storage[relay.storage]] : []),
    ...(is_expiry_stopped ? [t.expiryStopped] : []),
    ...(isEndingSoon ? [t.certificateSoon(fullTime(Date.parse(end)))] : []),
    ...(relay?.payment_troubles.map((trouble) => t.paymentTrouble(trouble)) ?? []),
    ...nodes.flatMap((node) => nodeWarnings(node)),
  ]
  if (lines.length === 0) return null
  return (
    <ul class="admin-warnings">
      {lines.map((line) => (
        <li key={line} class="banner" data-kind="danger">
          {line}
        </li>
      ))}
    </ul>
  )
}

function nodeWarnings({ place, state, bus, last_seen_at }: Node): string[] {
  const t = adminTexts.value.status
  if (state === 'silent') return [t.nodeSilent(place, fullTime(Date.parse(last_seen_at)))]
  return bus === 'silent' ? [t.busSilent(place)] : []
}

function Cards({ status }: { readonly status: Status }) {
  const t = adminTexts.value.status
  const { relay, messages, database, media } = status
  return (
    <div class="admin-cards">
      <Card title={t.relay}>
        <Fact name={t.connections}>{numberOf(status.connections)}</Fact>
        <Fact name={t.accounts}>{numberOf(status.accounts)}</Fact>
        {relay && <Fact name={t.memory}>{sizeOf(relay.memory_bytes)}</Fact>}
        {relay && <Fact name={t.runningSince}>{fullTime(nowMs() - relay.uptime_seconds * 1000)}</Fact>}
        <Fact name={t.version}>
          <span class="code">{status.version}</span>
        </Fact>
        <Fact name={t.certificate}>
          {relay?.certificate_ends_at ? fullTime(Date.parse(relay.certificate_ends_at)) : t.noCertificate}
        </Fact>
      </Card>
      <Card title={t.messages}>
        <Fact name={t.waiting}>{numberOf(messages.waiting)}</Fact>
        <Fact name={t.waitingFor}>{numberOf(messages.accounts)}</Fact>
        <Fact name={t.waitingBytes}>{sizeOf(messages.bytes)}</Fact>
        <Fact name={t.pushes}>{numberOf(status.pushes_waiting)}</Fact>
        <Fact name={t.orders}>{numberOf(status.orders_pending)}</Fact>
        <Fact name={t.reports}>{numberOf(status.reports_open)}</Fact>
      </Card>
      <Card title={t.database}>
        <Fact name={t.engine}>
          <span class="code">{database.engine}</span>
        </Fact>
        <Fact name={t.bytes}>{sizeOf(database.bytes)}</Fact>
        <Fact name={t.reusable}>{sizeOf(database.reusable_bytes)}</Fact>
        <DiskFigure disk={database.disk} />
      </Card>
      <Card title={t.media}>
        <Fact name={t.blobs}>{numberOf(media.blobs)}</Fact>
        <Fact name={t.bytes}>{sizeOf(media.bytes)}</Fact>
        <DiskFigure disk={media.disk} />
      </Card>
      {status.nodes.map((node) => (
        <NodeCard key={node.node} node={node} isThis={node.node === relay?.node} />
      ))}
    </div>
  )
}

function NodeCard({ node, isThis }: { readonly node: Node; readonly isThis: boolean }) {
  const t = adminTexts.value.status
  return (
    <Card title={isThis ? t.thisNode(node.place) : t.node(node.place)}>
      <Fact name={t.nodeState}>{t.nodeStates[node.state]}</Fact>
      <Fact name={t.lastSeen}>{fullTime(Date.parse(node.last_seen_at))}</Fact>
      <Fact name={t.connections}>{numberOf(node.connections)}</Fact>
      <Fact name={t.version}>
        <span class="code">{node.version}</span>
      </Fact>
      <Fact name={t.bus}>{t.busStates[node.bus]}</Fact>
    </Card>
  )
}

function DiskFigure({ disk }: { readonly disk: Status['database']['disk'] }) {
  const t = adminTexts.value.status
  if (!disk) return null
  const used = disk.total_bytes - disk.free_bytes
  return (
    <Fact name={t.disk}>
      {t.free(sizeOf(disk.free_bytes), sizeOf(disk.total_bytes))}
      <meter
        class="admin-meter"
        aria-label={t.diskUsed}
        min={0}
        max={disk.total_bytes}
        high={disk.total_bytes * 0.9}
        value={used}
      />
    </Fact>
  )
}

function Card({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      <dl class="admin-figures">{children}</dl>
    </section>
  )
}
