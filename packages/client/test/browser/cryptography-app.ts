// Runs every cryptographic construction on the project's vectors, in a page.
import {
  decodeBase64,
  decryptMessage,
  deriveIdentityKeys,
  deriveSessionKey,
  encodeBase64,
  encryptMessage,
  generateMnemonic,
  hexToBytes,
  loadPrimitives,
  mnemonicToSeed,
  openValue,
  sealValue,
  securityCode,
  sign,
  solveProofOfWork,
  validateMnemonic,
  verifySignature,
} from '@sotto/crypto'
import { solveProofOfWorkByNoble } from '@sotto/crypto/noble-proof-of-work'
import vectors from '../../../../vectors/crypto.json'

/** The page's results: the implementation it used, and each computed value with the expected value. */
export interface Findings {
  readonly implementation: string
  readonly values: readonly { readonly name: string; readonly is: unknown; readonly shouldBe: unknown }[]
}

async function findings(): Promise<Findings> {
  const values: { name: string; is: unknown; shouldBe: unknown }[] = []
  const find = (name: string, is: unknown, shouldBe: unknown): void =>
    void values.push({ name, is, shouldBe })
  const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
  const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : String(error))

  const identities = await Promise.all(vectors.identities.map(({ mnemonic }) => deriveIdentityKeys(mnemonic)))
  for (const [index, identity] of vectors.identities.entries()) {
    const keys = identities[index]
    if (!keys) throw new Error('no keys')
    find('phrase', await validateMnemonic(identity.mnemonic), true)
    const otherWord = `${identity.mnemonic.slice(0, identity.mnemonic.lastIndexOf(' '))} zoo`
    find('another last word', await validateMnemonic(otherWord), false)
    find('seed', hex(await mnemonicToSeed(identity.mnemonic)), identity.bip39_seed_hex)
    find('Ed25519, private', hex(keys.signing.privateKey), identity.ed25519_private_hex)
    find('Ed25519, public', encodeBase64(keys.signing.publicKey), identity.ed25519_public_b64)
    find('X25519, private', hex(keys.agreement.privateKey), identity.x25519_private_hex)
    find('X25519, public', encodeBase64(keys.agreement.publicKey), identity.x25519_public_b64)
  }
  const [a, b] = [identities[vectors.session.a], identities[vectors.session.b]]
  if (!a || !b) throw new Error('no identities')
  const { challenge, signature_b64 } = vectors.auth
  const signer = identities[vectors.auth.signed_by] ?? a
  find('signature', encodeBase64(await sign(signer.signing.privateKey, challenge)), signature_b64)
  const signature = decodeBase64(signature_b64)
  find('verified', await verifySignature(signer.signing.publicKey, challenge, signature), true)
  find('verified with another key', await verifySignature(b.signing.publicKey, challenge, signature), false)
  const { conv_id: conversationId, session_key_hex } = vectors.session
  const derive = (theirPublicKey: Uint8Array) =>
    deriveSessionKey({ privateKey: a.agreement.privateKey, theirPublicKey, conversationId })
  find('session key', hex(await derive(b.agreement.publicKey)), session_key_hex)
  find('a weak key', await derive(new Uint8Array(32)).catch(codeOf), 'WEAK_KEY')
  find(
    'security code',
    await securityCode(a.agreement.publicKey, b.agreement.publicKey),
    vectors.security_code.code,
  )

  const sessionKey = hexToBytes(session_key_hex)
  const payload = await encryptMessage({ sessionKey, plaintext: 'déjà vu 🔐', randomBytes })
  find('message', await decryptMessage({ sessionKey, payload }), 'déjà vu 🔐')
  const wrongKey = new Uint8Array(32)
  find(
    'a wrong key',
    await decryptMessage({ sessionKey: wrongKey, payload }).catch(codeOf),
    'DECRYPTION_FAILED',
  )
  const sealed = await sealValue({ key: sessionKey, secret: sessionKey, context: 'here', randomBytes })
  find('sealed', hex(await openValue({ key: sessionKey, sealed, context: 'here' })), session_key_hex)
  const moved = openValue({ key: sessionKey, sealed, context: 'there' }).catch(codeOf)
  find('sealed in another context', await moved, 'DECRYPTION_FAILED')
  for (const entropy of [0, 0x7f]) {
    const phrase = await generateMnemonic((length) => new Uint8Array(length).fill(entropy))
    find('a generated phrase', phrase.endsWith(entropy === 0 ? ' abandon about' : ' thank yellow'), true)
  }
  for (const { challenge_string, difficulty, first_nonce } of vectors.pow) {
    const work = { challenge: challenge_string, difficulty }
    find('proof of work', await solveProofOfWork(work), first_nonce)
    find('proof of work as in workers', await solveProofOfWorkByNoble(work), first_nonce)
    const attempts = Number(first_nonce) + 1
    find('the last attempt', await solveProofOfWork({ ...work, maxAttempts: attempts }), first_nonce)
    if (attempts === 1) continue
    const tooFew = solveProofOfWork({ ...work, maxAttempts: attempts - 1 }).catch(codeOf)
    find('too few attempts', await tooFew, 'WORK_NOT_FOUND')
  }
  const reported: number[] = []
  const hopeless = { challenge: 'x', difficulty: 64, maxAttempts: 2000, attemptsPerStep: 700 }
  const ended = solveProofOfWork({ ...hopeless, onProgress: (attempts) => reported.push(attempts) }).catch(
    codeOf,
  )
  find('no solution', await ended, 'WORK_NOT_FOUND')
  find('progress', reported.join(' '), '700 1400')
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 50)
  const endless = solveProofOfWork({ challenge: 'x', difficulty: 64, signal: abort.signal }).catch(codeOf)
  find('aborted', await endless, 'ABORTED')
  return { implementation: await loadPrimitives(), values }
}

Object.assign(globalThis, { findings, isReady: true })
