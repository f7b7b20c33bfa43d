// The settings of being paid: which provider, and what it needs. Read by config.ts, which is the only reader of the environment.

/** Settings of all providers; each needs only its own. */
export const paymentSettings = {
  PAYMENTS: {
    default: 'manual',
    means: 'how orders are paid: manual, evm, tron, webhook, or dev (pretends; for trying things out only)',
  },
  MANUAL_PAY_TO: {
    default: '',
    means: 'manual: where to pay, shown to buyers; the operator confirms with `sotto orders confirm`',
  },
  EVM_RPC_URLS: {
    default: '',
    means: 'evm: JSON-RPC endpoints of the chain, comma-separated; the next is asked where one fails',
  },
  EVM_CHAIN_ID: { default: '1', means: 'evm: number of the chain; endpoints of another one are refused' },
  EVM_TOKEN: { default: '', means: 'evm: address of the ERC-20 stablecoin' },
  EVM_TOKEN_SYMBOL: { default: 'USDT', means: 'evm: what the payment page calls it' },
  EVM_TOKEN_DECIMALS: {
    default: '6',
    means: 'evm: digits behind its point, 0 to 18; held against the token',
  },
  EVM_NETWORK: { default: 'Ethereum', means: 'evm: what the payment page calls the chain' },
  EVM_XPUB: {
    default: '',
    means: 'evm: extended public key (BIP-32) that deposit addresses are derived from; never a private one',
  },
  EVM_CONFIRMATIONS: { default: '12', means: 'evm: blocks a payment needs, 1 to 1000' },
  EVM_POLL_MS: { default: '4000', means: 'evm: how often the chain is looked at, 50 to 600000 ms' },
  EVM_OTHER_RPC_URLS: {
    default: '',
    means:
      'evm: JSON-RPC endpoints of other chains to watch for money sent there by mistake, comma-separated',
  },
  TRON_API_URL: { default: 'https://api.trongrid.io', means: 'tron: the TronGrid HTTP interface' },
  TRON_API_KEY: { default: '', means: 'tron: key for it, if it asks for one' },
  TRON_TOKEN: {
    default: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    means: 'tron: address of the TRC-20 stablecoin',
  },
  TRON_XPUB: {
    default: '',
    means: 'tron: extended public key (BIP-32) that deposit addresses are derived from',
  },
  TRON_CONFIRMATIONS: { default: '20', means: 'tron: blocks a payment needs, 1 to 1000' },
  WEBHOOK_PROCESSOR: { default: '', means: 'webhook: nowpayments or btcpay' },
  WEBHOOK_API_URL: {
    default: '',
    means: 'webhook: the processor’s interface; empty: https://api.nowpayments.io for nowpayments',
  },
  WEBHOOK_API_KEY: { default: '', means: 'webhook: key for it' },
  WEBHOOK_SECRET: { default: '', means: 'webhook: secret its notifications are signed with' },
  WEBHOOK_STORE: { default: '', means: 'webhook: id of the store, for btcpay' },
} as const

/** Gives a setting's text, its default where the operator gave none. */
export type PaymentSettingText = (name: keyof typeof paymentSettings) => string
