// Noble's X-Wing and ML-KEM with chosen coins, for tests of other packages: a composition that is not ours.
export { ml_kem768_x25519 } from '@noble/post-quantum/hybrid.js'
export { ml_kem768 } from '@noble/post-quantum/ml-kem.js'
