import type { dialogs as en } from '../en/dialogs.ts'

// The dialogs of a conversation.
export const dialogs: typeof en = {
  forwardTo: 'إعادة التوجيه إلى',
  findContact: 'الاسم',
  nobodyFound: 'لا صديق بهذا الاسم.',
  retractTitle: 'سحب هذه الرسالة؟',
  retractText: (name) => `تُحذف هنا، ويُطلب من تطبيق ${name} حذفها أيضًا. ربما قُرئت من قبل.`,
  detailFrom: 'من',
  detailText: 'النص',
  detailTime: 'الوقت',
  detailEdited: 'عُدّلت',
  detailStatus: 'الحالة',
  detailSize: 'الحجم',
  detailNumber: 'رقمها في المحادثة',
  detailId: 'المعرّف',
  detailKey: 'التشفير',
  keyVerified: 'من طرف إلى طرف، وقد قارنت رمز الأمان.',
  keyUnverified: 'من طرف إلى طرف. لم تقارن رمز الأمان بعد.',
  linkTitle: 'فتح هذا الرابط؟',
  linkText: 'لا يقود الرابط إلى حيث يقول نصه.',
  linkShown: 'نصه',
  linkLeads: 'يقود إلى',
  linkOpen: 'افتحه رغم ذلك',
}
