// The settings of payments: which provider is used, and what it needs. Only config.ts reads the environment.

/** The settings of all providers. Each provider needs only its own. */
export const paymentSettings = {
  PAYMENTS: {
    default: 'manual',
    means:
      'how orders can be paid: one or several of manual, evm, tron and webhook, comma-separated, the first as the default; or dev alone (only pretends, for trying things out)',
  },
  MANUAL_PAY_TO: {
    default: '',
    means: 'manual: where to pay, shown to buyers; the operator confirms with `sotto orders confirm`',
  },
  MANUAL_HOLD_HOURS: {
    default: '',
    means:
      'manual: how many hours an order lasts that is to be paid by hand, 1 to 720; one order of each account at a time; if empty, as long as any other (LIMIT_ORDER_SECONDS)',
  },
  EVM_RPC_URLS: {
    default: '',
    means: 'evm: JSON-RPC endpoints of the chain, comma-separated; if one fails, the next is used',
  },
  EVM_CHAIN_ID: { default: '1', means: 'evm: number of the chain; endpoints of other chains are refused' },
  EVM_TOKEN: { default: '', means: 'evm: address of the ERC-20 stablecoin' },
  EVM_TOKEN_SYMBOL: { default: 'USDT', means: 'evm: the token’s name on the payment page' },
  EVM_TOKEN_DECIMALS: {
    default: '6',
    means: 'evm: decimal places of the token, 0 to 18; must match the token',
  },
  EVM_NETWORK: { default: 'Ethereum', means: 'evm: the chain’s name on the payment page' },
  EVM_XPUB: {
    default: '',
    means: 'evm: extended public key (BIP-32) that deposit addresses are derived from; never a private one',
  },
  EVM_CONFIRMATIONS: { default: '12', means: 'evm: blocks a payment needs, 1 to 1000' },
  EVM_AGREE: {
    default: '',
    means:
      'evm: how many endpoints must agree on a payment before it counts; if empty, two, or one if there is only one',
  },
  EVM_EXPLORER_URL: {
    default: '',
    means:
      'evm: https address of a block explorer; {transaction} in it, or /tx/ after it, stands for a payment',
  },
  EVM_CHAINS_FILE: {
    default: '',
    means: 'evm: JSON file of further chains and tokens; without EVM_RPC_URLS, of all',
  },
  EVM_POLL_MS: { default: '4000', means: 'evm: how often each chain is read, 50 to 600000 ms' },
  EVM_OTHER_RPC_URLS: {
    default: '',
    means:
      'evm: JSON-RPC endpoints of other chains to watch for money sent there by mistake, comma-separated',
  },
  TRON_API_URL: {
    default: 'https://api.trongrid.io',
    means: 'tron: TronGrid HTTP interfaces of the chain, comma-separated',
  },
  TRON_AGREE: {
    default: '',
    means: 'tron: how many interfaces must agree on a payment; if empty, 2, or 1 if there is only one',
  },
  TRON_CHAIN_ID: {
    default: '728126428',
    means: 'tron: number of the chain; interfaces of other chains are not believed',
  },
  TRON_API_KEY: { default: '', means: 'tron: API key for this interface, if it requires one' },
  TRON_TOKEN: {
    default: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    means: 'tron: address of the TRC-20 stablecoin',
  },
  TRON_XPUB: {
    default: '',
    means: 'tron: extended public key (BIP-32) that deposit addresses are derived from',
  },
  TRON_EXPLORER_URL: {
    default: '',
    means:
      'tron: https address of a block explorer; {transaction} in it, or /tx/ after it, stands for a payment',
  },
  TRON_CONFIRMATIONS: { default: '20', means: 'tron: blocks a payment needs, 1 to 1000' },
  WEBHOOK_PROCESSOR: { default: '', means: 'webhook: nowpayments or btcpay' },
  WEBHOOK_API_URL: {
    default: '',
    means:
      'webhook: address of the processor’s interface; if empty, https://api.nowpayments.io for nowpayments',
  },
  WEBHOOK_API_KEY: { default: '', means: 'webhook: API key for this interface' },
  WEBHOOK_SECRET: { default: '', means: 'webhook: secret that the processor signs its notifications with' },
  WEBHOOK_STORE: { default: '', means: 'webhook: id of the store, only for btcpay' },
} as const

/** Returns a setting's text, or its default if the operator did not set it. */
export type PaymentSettingText = (name: keyof typeof paymentSettings) => string
