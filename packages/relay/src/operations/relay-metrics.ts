// The counters and histograms that the relay's parts write to. Those that are read only when somebody asks
// are in `gauges.ts` of the package.
import { clientFrames, closeCodes, endpoints, errors, rates } from '@sotto/protocol'
import type { Clock } from './clock.ts'
import type { Log, LogFields } from './log.ts'
import { Metrics } from './metrics.ts'
import { RepeatedWarning } from './repeated-warning.ts'

/** Seconds. */
const FAST = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Frames. */
const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

/** What the relay's parts count. */
export class RelayMetrics {
  readonly all: Metrics
  readonly framesReceived
  readonly framesSent
  readonly closed
  readonly errors
  readonly ratesReached
  readonly requests
  readonly requestSeconds
  readonly commitSeconds
  readonly commitFrames
  readonly commitsFailed
  readonly ackSeconds
  readonly deliverySeconds
  readonly pushes
  readonly logLines
  readonly logEvents

  constructor(parts: { log: Log; clock: Clock }) {
    const unread = new RepeatedWarning('metric_unread', { ...parts, log: this.counted(parts.log) })
    const all = new Metrics((name) => unread.happened({ reason: `${name} could not be read` }))
    this.all = all
    this.framesReceived = all.counter(
      'sotto_frames_received_total',
      'Valid frames from clients, by type.',
      ['type'],
      Object.keys(clientFrames),
    )
    this.framesSent = all.counter(
      'sotto_frames_sent_total',
      'Frames written to clients, without posts of channels.',
    )
    this.closed = all.counter(
      'sotto_connections_closed_total',
      'WebSockets of accounts that the relay closed with a code, by reason. Silent ones are only dropped.',
      ['reason'],
      Object.keys(closeCodes),
    )
    this.errors = all.counter(
      'sotto_errors_total',
      'Errors that clients got, in answers and in frames, by code.',
      ['code'],
      Object.keys(errors),
    )
    this.ratesReached = all.counter(
      'sotto_rates_reached_total',
      'Requests refused and frames delayed because a rate was reached, by rate.',
      ['rate'],
      Object.keys(rates),
    )
    this.requests = all.counter(
      'sotto_http_requests_total',
      'HTTP requests, by endpoint and class of status.',
      ['endpoint', 'status'],
    )
    for (const endpoint of Object.keys(endpoints)) this.requests.count(endpoint, '2xx', 0)
    this.requestSeconds = all.histogram(
      'sotto_http_request_seconds',
      'Time from an HTTP request to its answer, without upgrades.',
      FAST,
    )
    this.commitSeconds = all.histogram('sotto_commit_seconds', 'Time of a commit of frames.', FAST)
    this.commitFrames = all.histogram('sotto_commit_frames', 'Frames in a commit.', SIZES)
    this.commitsFailed = all.counter('sotto_commits_failed_total', 'Commits of frames that failed.')
    this.ackSeconds = all.histogram(
      'sotto_ack_seconds',
      'Time from a message that its rate allows to its ack.',
      FAST,
    )
    this.deliverySeconds = all.histogram(
      'sotto_delivery_seconds',
      'Time from the end of a commit until those of its frames that connections wait for are written to them.',
      FAST,
    )
    this.pushes = all.counter(
      'sotto_pushes_total',
      'Wake-up pushes, by what the push service answered: taken, gone, refused or later.',
      ['outcome'],
      ['taken', 'gone', 'refused', 'later'],
    )
    this.logLines = all.counter(
      'sotto_log_lines_total',
      'Lines of the log, by level, also those that LOG_LEVEL hides, without those of the process’s start and end.',
      ['level'],
      ['error', 'warn', 'info', 'debug'],
    )
    this.logEvents = all.counter('sotto_log_events_total', 'Lines of the log, by event.', ['event'])
  }

  /** The same log. Its lines are counted. */
  counted(log: Log): Log {
    const at =
      (level: 'error' | 'warn' | 'info' | 'debug') =>
      (event: string, fields?: LogFields): void => {
        this.logLines.count(level)
        this.logEvents.count(event)
        log[level](event, fields)
      }
    return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }
  }
}
