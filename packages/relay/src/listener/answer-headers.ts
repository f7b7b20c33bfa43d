// The headers that every answer has: which origins may read it, and what keeps browsers from treating it as a
// page, from storing it, and from leaving TLS.

/** What decides about the headers. */
export interface AnswerHeaderParts {
  readonly corsOrigins: readonly string[] | 'any'
  /** Whether clients reach the relay by https. */
  readonly isSecure: boolean
}

/** Adds the final headers to a response. */
export type Finish = (request: Request, response: Response) => Response

/** What a preflight request is told. */
export const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, content-type, range, if-range, if-none-match',
  'access-control-max-age': '86400',
}

/** A year, the least that is recommended. The relay cannot speak for subdomains of its host. */
const TRANSPORT_SECURITY = 'max-age=31536000'

/** What an answer has unless it says otherwise itself: it is data, never a document, and nobody stores it. */
const DEFAULTS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'referrer-policy': 'no-referrer',
}

/** The headers of endpoints and documents, which scripts of other origins may read. */
export function apiAnswers(parts: AnswerHeaderParts): Finish {
  const { corsOrigins: origins } = parts
  const finish = pageAnswers(parts)
  return (request, response) => {
    const { headers } = finish(request, response)
    if (origins === 'any') headers.set('access-control-allow-origin', '*')
    else {
      const origin = request.headers.get('origin')
      headers.append('vary', 'Origin')
      if (origin && origins.includes(origin)) headers.set('access-control-allow-origin', origin)
    }
    headers.set('access-control-expose-headers', 'retry-after, etag, content-range')
    return response
  }
}

/** The headers of pages, which are for people: scripts of other origins may not read them. */
export function pageAnswers({ isSecure }: AnswerHeaderParts): Finish {
  return (_request, response) => {
    const { headers } = response
    for (const [name, value] of Object.entries(DEFAULTS)) if (!headers.has(name)) headers.set(name, value)
    headers.set('x-content-type-options', 'nosniff')
    if (isSecure) headers.set('strict-transport-security', TRANSPORT_SECURITY)
    return response
  }
}
