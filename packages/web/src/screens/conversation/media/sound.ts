// Which recordings are played: recognised by their bytes, because the type is only the sender's claim.

/** The type of a recording, for an `audio` element. Undefined if it is none that browsers play. */
export async function soundTypeOf(blob: Blob): Promise<string | undefined> {
  return soundTypeOfBytes(new Uint8Array(await blob.slice(0, 16).arrayBuffer()))
}

/** The same from the first bytes. */
export function soundTypeOfBytes(bytes: Uint8Array): string | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, 12))
  const [first = 0, second = 0] = bytes
  if (text.startsWith('\x1a\x45\xdf\xa3')) return 'audio/webm'
  if (text.startsWith('OggS')) return 'audio/ogg'
  if (text.slice(4, 8) === 'ftyp') return 'audio/mp4'
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WAVE') return 'audio/wav'
  if (text.startsWith('fLaC')) return 'audio/flac'
  // ADTS, whose layer is 0, before MPEG, whose layer is not.
  if (first === 0xff && (second & 0xf6) === 0xf0) return 'audio/aac'
  if (text.startsWith('ID3') || (first === 0xff && (second & 0xe0) === 0xe0)) return 'audio/mpeg'
  return undefined
}
