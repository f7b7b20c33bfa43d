// Endpoints of calls. Their signals travel as frames.
import * as calls from '../bodies/calls.ts'
import { define } from './endpoint.ts'

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
    summary: 'Servers for the media of calls; with `mode=relay` TURN servers only',
  },
})
