// The addresses of the scripts that the app may start. The page's policy (Trusted Types) refuses all others.
import callWorker from '@sotto/client/call-worker?worker&url'
import erasureWorker from '@sotto/client/erasure-worker?worker&url'
import powWorker from '@sotto/client/pow-worker?worker&url'
import { onlyThese } from './exact-addresses.ts'

/** The parts of Trusted Types that the app uses. Browsers without them take the address itself. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string }
}

const addresses = {
  powWorker: new URL(powWorker, location.href).href,
  callWorker: new URL(callWorker, location.href).href,
  erasureWorker: new URL(erasureWorker, location.href).href,
  serviceWorker: new URL('service-worker.js', document.baseURI).href,
}

const policy = trustedTypes()?.createPolicy('sotto', {
  createScriptURL: onlyThese(Object.values(addresses)),
})

/** The address of a script of the app, in the form that the browser accepts. */
function scriptAddress(name: keyof typeof addresses): string {
  return policy ? policy.createScriptURL(addresses[name]) : addresses[name]
}

/** Starts a worker of the app. */
export function startWorker(name: 'powWorker' | 'callWorker' | 'erasureWorker'): Worker {
  return new Worker(scriptAddress(name), { type: 'module' })
}

/** The address of the service worker, in the form that `register` accepts. */
export function serviceWorkerAddress(): string {
  return scriptAddress('serviceWorker')
}

function trustedTypes(): TrustedTypes | undefined {
  const found: unknown = Reflect.get(globalThis, 'trustedTypes')
  return isTrustedTypes(found) ? found : undefined
}

function isTrustedTypes(value: unknown): value is TrustedTypes {
  return typeof value === 'object' && value !== null && 'createPolicy' in value
}
