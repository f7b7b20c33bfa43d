import type { report as en } from '../en/report.ts'
import { plural } from '../plural.ts'

// Reports to the operator of the relay.
export const report: typeof en = {
  title: (name) => `الإبلاغ عن ${name}`,
  text: 'يصل بلاغك إلى مشغّل الخادم ومعه اسمك المستعار. ويحل محل بلاغ سابق عن الشيء نفسه.',
  notTold: 'لا يُخبَر من تبلغ عنه.',
  reason: 'ما المشكلة؟',
  left: (count) =>
    plural('ar', count, {
      zero: 'لم يبق أي حرف',
      one: 'بقي حرف واحد',
      two: 'بقي حرفان',
      few: 'بقيت # أحرف',
      many: 'بقي # حرفًا',
      other: 'بقي # حرف',
    }),
  isPublic: 'يستطيع المشغّل قراءة القناة ومنشوراتها.',
  attachMessage: 'إرفاق الرسالة',
  attachRequest: 'إرفاق الاسم الذي في الطلب',
  attachHint: 'حينها يقرأها المشغّل. ولا يستطيع أحد أن يثبت أن الطرف الآخر كتب ذلك.',
  attached: 'ما الذي سيُرفق',
  send: 'إرسال البلاغ',
  sentTitle: 'وصل بلاغك إلى المشغّل',
  blockToo: (name) => `هل تريد حظر ${name} أيضًا؟`,
  notNow: 'ليس الآن',
}
