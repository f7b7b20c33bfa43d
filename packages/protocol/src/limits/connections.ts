// Limits of connections and of what they send and receive.
import { KIB, type Limit, MIB } from './limit.ts'

export const connectionLimits = {
  frameBytes: {
    default: 256 * KIB,
    min: 4 * KIB,
    max: 16 * MIB,
    setting: 'LIMIT_FRAME_BYTES',
    means:
      'one WebSocket frame; a larger one is refused, and one of more than four times as much closes with 1009',
  },
  bodyBytes: {
    default: 64 * KIB,
    min: 4 * KIB,
    max: 16 * MIB,
    setting: 'LIMIT_BODY_BYTES',
    means: 'JSON body of one request',
  },
  heldBytes: {
    default: 4 * MIB,
    min: 256 * KIB,
    max: 256 * MIB,
    setting: 'LIMIT_HELD_BYTES',
    means: 'frames of one connection that wait for its rates; more closes with 1013',
  },
  allHeldBytes: {
    default: 64 * MIB,
    min: MIB,
    max: 64 * 1024 * MIB,
    setting: 'LIMIT_ALL_HELD_BYTES',
    means:
      'frames of all connections that wait for their rates; more closes the connections that hold the most, with 1013',
  },
  commitBytes: {
    default: 128 * MIB,
    min: 4 * MIB,
    max: 64 * 1024 * MIB,
    setting: 'LIMIT_COMMIT_BYTES',
    means:
      'frames of all connections that wait to be committed; a connection that adds more is closed with 1013',
  },
  outboundBytes: {
    default: 8 * MIB,
    min: 256 * KIB,
    max: 256 * MIB,
    setting: 'LIMIT_OUTBOUND_BYTES',
    means: 'unread answers of one connection; more closes with 1013',
  },
  unreadBytes: {
    default: 512 * MIB,
    min: MIB,
    max: 1024 * 1024 * MIB,
    setting: 'LIMIT_UNREAD_BYTES',
    means:
      'unread answers and posts of all connections of a node; more closes the connections with the most, with 1013',
  },
  windowBytes: {
    default: 256 * KIB,
    min: 16 * KIB,
    max: 16 * MIB,
    setting: 'LIMIT_WINDOW_BYTES',
    means: 'stored messages sent to a slow reader before it has read the earlier ones',
  },
  badFrames: {
    default: 10,
    min: 1,
    max: 1000,
    setting: 'LIMIT_BAD_FRAMES',
    means: 'frames that are not JSON from one connection before it is closed with 1008',
  },
  idleSeconds: {
    default: 75,
    min: 8,
    max: 900,
    setting: 'LIMIT_IDLE_SECONDS',
    means: 'how long a connection may be silent before it is closed',
  },
  connections: {
    default: 0,
    min: 0,
    max: 10_000_000,
    setting: 'LIMIT_CONNECTIONS',
    means:
      'connections of one relay; 0 and too many mean the descriptor limit less a quarter, at most 1,024, that is kept for files',
  },
  addressConnections: {
    default: 0,
    min: 0,
    max: 10_000_000,
    setting: 'LIMIT_ADDRESS_CONNECTIONS',
    means: 'requests under way and WebSockets of one address; 0 means a quarter of all connections',
  },
} as const satisfies Record<string, Limit>
