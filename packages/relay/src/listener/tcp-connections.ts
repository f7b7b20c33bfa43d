// The TCP connections of the relay's port, as the system sees them. Bun does not tell how many there are, and
// it cannot end one that has not sent a whole request, so the system itself is asked. Only on Linux.
import { FFIType, ptr } from 'bun:ffi'
import { openCLibrary } from '../operations/c-library.ts'
import { clientAddress } from './address.ts'
import { connectionKey } from './connections-in-use.ts'

/** An open connection. */
export interface TcpConnection {
  readonly descriptor: number
  /** The address of the other end: an IPv4 address or an IPv6 /64. */
  readonly address: string
  /** Names it: see {@link connectionKey}. */
  readonly key: string
  /** Whether the other end has not received everything that was sent to it. */
  readonly isSending: boolean
}

/** The connections of the relay's ports. */
export interface TcpConnections {
  /** @param below the descriptors to look at */
  list(below: number): TcpConnection[]
  /** Ends a connection that was just listed. Bun notices it as if the other end had gone, and closes it. */
  end(connection: TcpConnection): void
  /**
   * If two servers listen on the port, the system gives new connections to the one that was opened last.
   * Otherwise it chooses one for each, and those that wait at a server when it stops are cut.
   */
  steerToSecond(): void
}

const [AF_INET, AF_INET6] = [2, 10]
const ADDRESS_BYTES = 28
const SHUT_RDWR = 2
const SIOCOUTQ = 0x5411
const [SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF] = [1, 51]
/** The instruction of a packet filter that returns a constant, which is its operand. */
const BPF_RETURN = 0x06
const FIRST_LOOKED_AT = 1024

const NAME = { args: [FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 } as const
const FUNCTIONS = {
  getsockname: NAME,
  getpeername: NAME,
  ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
  shutdown: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  setsockopt: {
    args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.u32],
    returns: FFIType.i32,
  },
} as const

/**
 * @param plainPort the port that sends browsers to https, if there is one
 * @returns undefined if the system offers no way
 */
export function openTcpConnections(port: number, plainPort?: number): TcpConnections | undefined {
  const library = openCLibrary(FUNCTIONS)
  if (!library) return undefined
  const { getsockname, getpeername, ioctl, shutdown, setsockopt } = library.symbols
  // One block of memory, which does not move: the system writes to it.
  const memory = new ArrayBuffer(64)
  const address = Buffer.from(memory, 0, ADDRESS_BYTES)
  const family = new Uint16Array(memory, 0, 1)
  const length = new Uint32Array(memory, 32, 1)
  const unsent = new Int32Array(memory, 36, 1)
  const [addressAt, lengthAt, unsentAt] = [ptr(address), ptr(length), ptr(unsent)]

  /** Reads one end of a connection. @returns false if the descriptor is something else */
  const readEnd = (ask: typeof getpeername, descriptor: number): boolean => {
    length[0] = ADDRESS_BYTES
    const isRead = ask(descriptor, addressAt, lengthAt) === 0
    return isRead && (family[0] === AF_INET || family[0] === AF_INET6)
  }
  return {
    // Every number is tried: to read the list of those in use takes a descriptor, and none may be left.
    list: (below) => {
      const found: TcpConnection[] = []
      for (let descriptor = 0; descriptor < below; descriptor++) {
        if (!readEnd(getsockname, descriptor)) continue
        if (portIn(address) !== port && portIn(address) !== plainPort) continue
        if (!readEnd(getpeername, descriptor)) continue // The socket that listens has no other end.
        const peer = addressIn(address, family[0] === AF_INET)
        unsent[0] = 0
        ioctl(descriptor, SIOCOUTQ, unsentAt)
        found.push({
          ...{ descriptor, address: clientAddress(peer, null, 0), key: connectionKey(peer, portIn(address)) },
          isSending: unsent[0] > 0,
        })
      }
      return found
    },
    // Not closed here: its number could be given to another file before Bun closes it too.
    end: ({ descriptor }) => void shutdown(descriptor, SHUT_RDWR),
    steerToSecond: () => {
      // A program of one instruction: the number of the server among those of the port. With one server there
      // is no second, and the system ignores the program.
      const instruction = new DataView(new ArrayBuffer(8))
      instruction.setUint16(0, BPF_RETURN, true)
      instruction.setUint32(4, 1, true)
      const program = new DataView(new ArrayBuffer(16))
      program.setUint16(0, 1, true)
      program.setBigUint64(8, BigInt(ptr(instruction)), true)
      for (let descriptor = 0; descriptor < FIRST_LOOKED_AT; descriptor++) {
        if (!readEnd(getsockname, descriptor) || portIn(address) !== port) continue
        if (readEnd(getpeername, descriptor)) continue // A connection.
        setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, ptr(program), program.byteLength)
        return // It counts for all servers of the port.
      }
    },
  }
}

/** The port of a `sockaddr_in` or `sockaddr_in6`. */
function portIn(data: Buffer): number {
  return data.readUInt16BE(2)
}

/** Its address. */
function addressIn(data: Buffer, isIpv4: boolean): string {
  if (isIpv4) return data.subarray(4, 8).join('.')
  return Array.from({ length: 8 }, (_, n) => data.readUInt16BE(8 + n * 2).toString(16)).join(':')
}
