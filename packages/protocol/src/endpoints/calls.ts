// Endpoints of calls. Their signals travel as frames.
import * as calls from '../bodies/calls.ts'
import { define, type Summaries } from './endpoint.ts'

export const callEndpoints = define({
  iceConfig: {
    method: 'GET',
    path: '/calls/ice-config',
    auth: 'account',
    rate: 'read',
    query: calls.IceConfigQuery,
    status: 200,
    reply: calls.IceConfig,
    errors: [],
  },
})

/** One line about each endpoint, for the documents. */
export const callSummaries: Summaries<typeof callEndpoints> = {
  iceConfig: 'Servers for the media of calls; with `mode=relay` only TURN servers',
}
