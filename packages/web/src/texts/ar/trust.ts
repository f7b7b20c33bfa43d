import type { Texts } from '../en/en.ts'
import { plural } from '../plural.ts'

// The security code of a contact, and changed keys.
export const trust: Texts['trust'] = {
  title: 'رمز الأمان',
  verified: 'تم التحقق',
  verifiedSince: (time) => `قارنته في ${time}.`,
  unverified: 'لم يُقارن بعد',
  changed: 'تغيّرت المفاتيح',
  how: (name) =>
    `يرى ${name} الرمز نفسه إن لم يكن بينكما أحد. قارناه وجهًا لوجه، أو بالصوت في مكالمة تثق بها.`,
  qr: 'رمز الأمان على هيئة QR',
  same: 'الرمزان متطابقان',
  different: 'إن اختلفا فلا تكتب شيئًا سريًا: قد يقرأ أحد ما تكتب.',
  takeBack: 'التراجع عن التحقق',
  isVerified: (name) => `تم التحقق من ${name}.`,
  isUnverified: (name) => `لم يعد ${name} متحققًا منه.`,
  notTheSame: 'لم يعد هذا هو الرمز. قارن من جديد.',
  changedTitle: (name) => `تغيّرت مفاتيح ${name}`,
  changedBar: (name, others) =>
    others === 0
      ? `تغيّرت مفاتيح ${name}`
      : `تغيّرت مفاتيح ${name} ${plural('ar', others, { one: 'وشخص آخر', two: 'وشخصين آخرين', few: 'و# آخرين', other: 'و# آخرين' })}`,
  changedShort: 'لا يُرسل شيء ولا يُقرأ حتى تقرر.',
  changedWhy:
    'يقول الخادم إن لجهة الاتصال هذه مفاتيح غير التي تعرفها. قد ينتحل أحد شخصيتها، وقد يكون الخادم نفسه. قد يكون السبب بريئًا، لكن الشخص وحده يستطيع أن يخبرك.',
  changedWhat: 'ما العمل',
  changedSteps: [
    'اسأل الشخص وجهًا لوجه أو بالهاتف، لا بهذا التطبيق.',
    'قارن الرمز الجديد أدناه بما يراه هو.',
    'تابع فقط إن كان يعرف السبب وتطابق الرمزان.',
  ],
  look: 'ما العمل',
  newCode: 'الرمز الجديد',
  oldCode: 'الرمز حتى الآن',
  renewSame: 'الرمزان الجديدان متطابقان',
  renewSameText: 'تُستخدم المفاتيح الجديدة من الآن، وتصبح جهة الاتصال متحققًا منها.',
  renewBlind: 'المتابعة دون مقارنة',
  renewBlindTitle: 'الوثوق بمفاتيح لم يقارنها أحد؟',
  renewBlindText: 'من يملك هذه المفاتيح يقرأ ما تكتبه من الآن. قد يكون شخصًا آخر.',
  renewed: 'تُستخدم المفاتيح الجديدة من الآن.',
  needsRelay: 'يحتاج هذا إلى اتصال بالخادم.',
}
