// What the relay answers to the commands that the page asks for. Bytes are bytes, times are ISO 8601.

interface Disk {
  readonly total_bytes: number
  readonly free_bytes: number
}

/** One of the processes that share a database. */
export interface Node {
  readonly node: string
  readonly place: string
  readonly version: string
  readonly state: 'alive' | 'draining' | 'silent'
  readonly last_seen_at: string
  readonly connections: number
  /** Whether it hears what it tells other nodes. */
  readonly bus: 'ok' | 'silent'
}

export interface Status {
  readonly version: string
  readonly relay: {
    readonly uptime_seconds: number
    /** Its name among the nodes. */
    readonly node: string
    readonly memory_bytes: number
    readonly storage: 'ok' | 'short' | 'full'
    readonly payment_troubles: readonly string[]
    readonly certificate_ends_at: string | null
  } | null
  readonly nodes: readonly Node[]
  /** At all nodes. */
  readonly connections: number
  readonly accounts: number
  readonly messages: { readonly waiting: number; readonly bytes: number; readonly accounts: number }
  readonly pushes_waiting: number
  readonly database: {
    readonly engine: string
    readonly bytes: number
    readonly reusable_bytes: number
    readonly disk: Disk | null
  }
  readonly media: { readonly blobs: number; readonly bytes: number; readonly disk: Disk | null }
  readonly orders_pending: number
  readonly reports_open: number
  readonly is_expiry_stopped: boolean
}

export interface Setting {
  readonly name: string
  /** Null if it is a secret. */
  readonly value: string | null
  readonly is_set: boolean
}

export interface LogLine {
  readonly at: string
  readonly level: 'error' | 'warn' | 'info' | 'debug'
  readonly event: string
  readonly fields: Readonly<Record<string, string>>
}

/** What happened in a minute, and what there was at its end. */
export interface MinuteFigures {
  readonly at: string
  readonly connections: number
  readonly messages: number
  readonly registrations: number
  /** Within so many milliseconds 95 of 100 messages were acknowledged; null if there were none. */
  readonly ack_ms: number | null
  readonly database_bytes: number
  readonly media_bytes: number
  readonly errors: number
  readonly refusals: number
}

export interface Order {
  readonly order_id: string
  readonly kind: 'vanity' | 'reserve' | 'channel' | 'quota'
  readonly ref_id: string
  readonly status: 'pending' | 'confirmed' | 'expired'
  readonly price_usdt: number
  readonly buyer: string | null
  readonly pay_to: string
  readonly provider: string
  readonly created_at: string
  readonly expires_at: string
  readonly confirmed_at: string | null
  readonly refunds_due: number
  readonly lost_payments: number
}

export interface Payment {
  readonly reference: string
  readonly asset: string
  readonly amount: string
  readonly at: string
  readonly state: 'seen' | 'final' | 'gone'
  readonly refund_amount: string | null
  readonly reason: string | null
  readonly refunded_at: string | null
  readonly lost: 'missing' | 'lost' | 'settled' | null
}

export interface Payout {
  readonly order_id: string
  readonly channel_id: string
  readonly seller: string
  readonly price_usdt: number
  readonly due_at: string
  readonly paid_at: string | null
  readonly is_held: boolean
}

export interface OrderDetail {
  readonly order: Order
  readonly payments: readonly Payment[]
  readonly payout: Payout | null
  readonly events: readonly {
    readonly at: string
    readonly who: string
    readonly what: string
    readonly why: string
  }[]
}

export interface Invite {
  readonly id: string
  readonly note: string
  /** The alias of the member who made it; null if an operator did. */
  readonly made_by: string | null
  readonly uses: number
  readonly used: number
  readonly created_at: string
  readonly expires_at: string | null
  readonly state: 'open' | 'used_up' | 'expired' | 'revoked'
}

export interface MadeInvite {
  readonly invite: Invite
  readonly code: string
  /** Null if the relay does not know its address. */
  readonly link: string | null
}

export interface Account {
  readonly alias_id: string
  readonly uuid: string
  readonly nickname: string
  readonly created_at: string
  readonly suspended: {
    readonly since: string
    readonly until: string | null
    readonly reason: string
  } | null
}

export interface AccountDetail extends Account {
  readonly former_aliases: readonly string[]
  readonly friends: number
  readonly requests_sent: number
  readonly requests_received: number
  readonly blocks: number
  readonly blocked_by: number
  readonly messages_waiting: number
  readonly bytes_waiting: number
  readonly media_blobs: number
  readonly media_bytes: number
  readonly channels: readonly { readonly channel_id: string; readonly name: string }[]
  readonly subscriptions: number
  readonly orders: number
}

export interface Channel {
  readonly channel_id: string
  readonly name: string
  readonly owner: string
  readonly is_public: boolean
  readonly subscribers: number
  readonly created_at: string
  /** Why an operator closed it; null if it is open. */
  readonly closed_for: string | null
}

export interface ChannelDetail extends Channel {
  readonly description: string
  readonly posts: number
  readonly post_bytes: number
  readonly newest: readonly {
    readonly id: string
    readonly content: string
    readonly created_at: string
  }[]
}

export interface Report {
  readonly id: number
  readonly about: 'account' | 'friend_request' | 'channel' | 'post'
  /** The alias, or the ids of the channel and the post. */
  readonly object: string
  readonly reporter: string
  readonly reason: string
  readonly has_content: boolean
  readonly reported_at: string
  readonly done_at: string | null
}

export interface ReportDetail extends Report {
  /** What the reporter attached. */
  readonly content: string | null
  /** The text of the reported post. */
  readonly post: string | null
}

/** What an operator did. */
export interface DoneDeed {
  readonly at: string
  readonly who: string
  /** The name of the command. */
  readonly what: string
  readonly object: string
  readonly why: string
}

/** The answers by command. */
export interface Answers {
  readonly status: Status
  readonly figures: readonly MinuteFigures[]
  readonly settings: readonly Setting[]
  readonly log: readonly LogLine[]
  readonly 'orders.list': readonly Order[]
  readonly 'orders.show': OrderDetail
  readonly 'orders.confirm': Order
  readonly 'orders.refund-recorded': Payment
  readonly 'orders.settle-lost': Order
  readonly 'payouts.due': readonly Payout[]
  readonly 'payouts.paid': Payout
  readonly 'invites.list': readonly Invite[]
  readonly 'invites.make': MadeInvite
  readonly 'invites.revoke': Invite
  readonly 'accounts.find': readonly Account[]
  readonly 'accounts.show': AccountDetail
  readonly 'accounts.suspend': Account
  readonly 'accounts.lift': Account
  readonly 'accounts.log-out': { readonly alias_id: string }
  readonly 'accounts.delete': { readonly alias_id: string }
  readonly 'channels.find': readonly Channel[]
  readonly 'channels.show': ChannelDetail
  readonly 'channels.remove-post': { readonly post_id: string }
  readonly 'channels.close': { readonly channel_id: string }
  readonly 'channels.open': { readonly channel_id: string }
  readonly 'channels.delete': { readonly channel_id: string }
  readonly 'reports.list': readonly Report[]
  readonly 'reports.show': ReportDetail
  readonly 'reports.done': Report
  readonly 'deeds.list': readonly DoneDeed[]
}
