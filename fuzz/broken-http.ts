// Bytes that are almost HTTP: requests that are cut, repeated, framed wrongly or changed at random.
import type { Draws } from './inputs.ts'
import { mutatedBytes } from './values.ts'

/** Breaks the text of a valid request. */
export function brokenHttp(text: string, draws: Draws): Uint8Array {
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s)
  const withHeader = (line: string, sent: string): string => `${head}\r\n${line}\r\n\r\n${sent}`
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n`
  const forms: readonly (() => string)[] = [
    () => text.slice(0, draws.whole(0, text.length)),
    () => text + text,
    () => text + text.slice(0, draws.whole(0, text.length)),
    () => withHeader('transfer-encoding: chunked', `${chunk}0\r\n\r\n`),
    () => withHeader('transfer-encoding: chunked', chunk),
    () =>
      withHeader(
        'transfer-encoding: chunked',
        `${draws.pick(['-1', 'ffffffffffffffff', 'g', ' 1', '1;a=b'])}\r\nx\r\n0\r\n\r\n`,
      ),
    () => withHeader('transfer-encoding: chunked, chunked', `${chunk}0\r\n\r\n`),
    () => withHeader('transfer-encoding: gzip', body),
    () =>
      withHeader(
        `content-length: ${draws.pick(['-1', '1', '0', '99999999999999999999', '1, 2', '+5', '0x5'])}`,
        body,
      ),
    () => withHeader(': empty', body),
    () => withHeader(`x: ${'y'.repeat(draws.whole(1, 40_000))}`, body),
    () => withHeader(Array.from({ length: draws.whole(1, 300) }, (_, n) => `x-${n}: y`).join('\r\n'), body),
    () => text.replaceAll('\r\n', draws.pick(['\n', '\r', '\r\n\r\n', ' \r\n '])),
    () =>
      text.replace(
        'HTTP/1.1',
        draws.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'http/1.1', '', 'HTTP/1.1 HTTP/1.1']),
      ),
    () =>
      text.replace(
        / \//,
        ` ${draws.pick(['http://127.0.0.1/', 'https://evil.example/', '*', '//', '\\', ''])}`,
      ),
    () =>
      text.replace(
        /^\w+/,
        draws.pick(['get', 'TRACE', 'CONNECT', 'PROPFIND', 'M-SEARCH', 'X'.repeat(300), '']),
      ),
    () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${text}`,
    () => `\u0016\u0003\u0001\u0002${text}`,
  ]
  if (draws.chance(0.4)) return mutatedBytes(Buffer.from(text), draws)
  return Buffer.from(draws.pick(forms)(), 'latin1')
}
