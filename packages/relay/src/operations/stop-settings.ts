// The settings of a relay that stops, or makes room for a new version. config.ts, the only reader of the
// environment, reads them.

export const stopSettings = {
  DRAIN_NOTICE_SECONDS: {
    default: '0',
    means:
      'how long a relay that is to stop works on as before, while `/ready` answers 503, so that a proxy sends nobody to it any more; 0 to 300. For several nodes: longer than the proxy takes to notice',
  },
  DRAIN_SECONDS: { default: '10', means: 'how long each step of stopping waits for accepted work, 1 to 300' },
  UPGRADE_SECONDS: {
    default: '60',
    means:
      'how long a new version may take to be ready after `sotto upgrade`, 2 to 3600; then the former one comes back',
  },
} as const
