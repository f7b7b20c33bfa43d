// The bloom filter in a block's header (`logsBloom`): a value that is in a log of the block is in the filter.
// Some values that are in no log are in it as well.
// Ethereum Yellow Paper, section 4.4.1, the function M3:2048.
import { hexToBytes, keccak256 } from 'viem/utils'

/**
 * Whether a log of the block may contain a value.
 * @param bloom 256 bytes as hexadecimal digits after `0x`
 * @param value the contract's address, or a topic, as hexadecimal digits after `0x`
 */
export function mayContain(bloom: string, value: string): boolean {
  const filter = hexToBytes(bloom as `0x${string}`)
  const hash = keccak256(value as `0x${string}`, 'bytes')
  return [0, 2, 4].every((at) => {
    const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047
    return ((filter[255 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0
  })
}
