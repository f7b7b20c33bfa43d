import type { suspension as en } from '../en/suspension.ts'

// The bar of a suspended account.
export const suspension: typeof en = {
  title: 'أوقف مشغّل الخادم حسابك',
  reason: 'السبب:',
  until: (time) => `ينتهي ذلك في ${time}.`,
  withoutEnd: 'لم يُحدَّد موعد لانتهائه.',
  stillWorks: 'لا يُرسل شيء ولا يُستقبل. يمكنك أن تقرأ ما على هذا الجهاز، وأن تحفظه في ملف، وأن تحذف حسابك.',
  check: 'تحقق مجددًا',
}
