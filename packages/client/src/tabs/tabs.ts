// One client for all tabs of a browser.
export { SharedClient, type SharedClientOptions } from './shared-client.ts'
