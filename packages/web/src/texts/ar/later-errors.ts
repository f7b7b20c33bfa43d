import type { laterErrors as en } from '../en/later-errors.ts'

// What happened, and what to do.
export const laterErrors: typeof en = {
  codes: {
    CHANNEL_CLOSED: 'أغلق مشغّل الخادم هذه القناة.',
    STORE_UNAVAILABLE: 'لا يصل الخادم إلى قاعدة بياناته. حاول بعد لحظة.',
    NO_KEY_PACKAGES: 'لا جهاز لهذا الشخص جاهز لمحادثة آمنة بعد. حاول لاحقًا.',
    TOO_MANY_INVITES: 'بلغت دعواتك أقصى ما يسمح به مشغّل الخادم.',
    PUSH_UNAVAILABLE: 'لا يستطيع هذا الخادم إشعار هذا الجهاز والتطبيق مغلق.',
    MEDIA_UNAVAILABLE: 'لا يستطيع الخادم استلام الملفات أو تسليمها الآن. حاول لاحقًا.',
    QUOTA_EXCEEDED: 'كل مقاعد القنوات مشغولة.',
    NOT_CHANNEL_OWNER: 'هذه القناة لشخص آخر.',
    CHANNEL_TAKEN: 'يشتري شخص آخر هذه القناة، أو لم تعد للبيع.',
    OWN_CHANNEL: 'هذه القناة لك من قبل.',
    TOO_MANY_SUBSCRIPTIONS: 'بلغت اشتراكاتك أقصى ما يسمح به الخادم. ألغِ اشتراكًا أولًا.',
    PAYMENTS_UNAVAILABLE: 'لا يقبل هذا الخادم مدفوعات الآن.',
    ALIAS_TAKEN: 'هذا الاسم لشخص آخر، أو يشتريه شخص آخر.',
    TOO_MANY_ORDERS: 'طلبات كثيرة تنتظر الدفع. ادفع أحدها، أو انتظر حتى ينتهي.',
    ORDER_CLOSED: 'لم يبق ما يُدفع لهذا الطلب.',
    ORDER_NOT_CONFIRMED: 'لم يتأكد الدفع بعد.',
  },
}
