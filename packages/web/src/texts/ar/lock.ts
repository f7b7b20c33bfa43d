import type { lock as en } from '../en/lock.ts'

// The locked app.
export const lock: typeof en = {
  title: 'مقفل',
  text: 'أدخل عبارة المرور لفتح رسائلك.',
  passphrase: 'عبارة المرور',
  unlock: 'فتح',
  unlocking: 'يستغرق الفتح بضع ثوان…',
  forgotten: 'نسيتها؟ استرد الحساب بالكلمات الاثنتي عشرة',
  forgottenTitle: 'مسح هذا الجهاز؟',
  forgottenText:
    'لا يمكن استعادة عبارة مرور منسية. يُحذف الحساب وكل الرسائل من هذا الجهاز، ثم تعيد الكلمات الاثنتا عشرة الحساب ولا تعيد أي رسالة.',
  forgottenDo: 'مسح واسترداد',
}
