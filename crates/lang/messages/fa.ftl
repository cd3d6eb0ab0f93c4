# بازه‌های زمانی
span-days = { $n ->
        [one] { $n } روز
       *[other] { $n } روز
    }
span-hours = { $n ->
        [one] { $n } ساعت
       *[other] { $n } ساعت
    }
span-minutes = { $n ->
        [one] { $n } دقیقه
       *[other] { $n } دقیقه
    }
span-seconds = { $n ->
        [one] { $n } ثانیه
       *[other] { $n } ثانیه
    }
from-days = { $n ->
        [one] { $n } روز
       *[other] { $n } روز
    }
from-hours = { $n ->
        [one] { $n } ساعت
       *[other] { $n } ساعت
    }
from-minutes = { $n ->
        [one] { $n } دقیقه
       *[other] { $n } دقیقه
    }
from-seconds = { $n ->
        [one] { $n } ثانیه
       *[other] { $n } ثانیه
    }
span-two = { $large } و { $small }
relative-in = تا { $span } دیگر
relative-ago = { $span } پیش
relative-now = اکنون

# قاب صفحه
nav-skip = رفتن به محتوا
nav-main = منوی اصلی
nav-inbox = صندوق ورودی
nav-runs = اجراها
nav-effects = اثرها
nav-review = بررسی
nav-switches = کلیدها
nav-metrics = سنجه‌ها
nav-journal = دفتر ثبت
nav-replays = اجراهای دوباره
nav-settings = تنظیمات
nav-me = تنظیمات من
nav-sign-in = ورود
nav-sign-out = خروج

# ورود
login-title = ورود
login-user = نام کاربری
login-password = گذرواژه
login-submit = ورود
login-already = شما با نام { $name } وارد شده‌اید. ورود دوباره آن نشست را پایان می‌دهد.
login-to-inbox = به صندوق ورودی
login-refused = نام کاربری یا گذرواژه درست نیست.
login-wait = تعداد تلاش‌ها زیاد بود. { $span } دیگر دوباره تلاش کنید.

# صندوق ورودی
inbox-title = در انتظار تصمیم شما
inbox-mine = برای من
inbox-my-roles = نقش‌های من
inbox-all = همه
inbox-order = ترتیب
inbox-by-risk = خطر
inbox-by-age = قدمت
inbox-by-due = مهلت
inbox-more-effects = { $n ->
        [one] و { $n } اثر دیگر
       *[other] و { $n } اثر دیگر
    }
inbox-undeliverable = به هیچ‌کس خبر نرسید
page-next = صفحهٔ بعد

# وضعیت تأیید
outcome-open = در انتظار تصمیم
outcome-approved = تأیید شد
outcome-rejected = رد شد
outcome-expired = مهلت گذشت
outcome-withdrawn = پس گرفته شد
outcome-undeliverable = تحویل نشد
outcome-approved-text = { $who }، { $when }.
outcome-rejected-text = { $who }، { $when }. چیزی فرستاده نشد و فرستاده نخواهد شد.
outcome-expired-text = تا { $when } کسی تصمیم نگرفت. چیزی فرستاده نشد و این پیوند دیگر چیزی را تعیین نمی‌کند.
outcome-withdrawn-text = { $when } پس گرفته شد. دیگر چیزی برای تصمیم‌گیری نیست.
outcome-undeliverable-text = تا { $when } به هیچ‌کس خبر نرسید. چیزی فرستاده نشد.

# کارت
card-title = تأیید
card-decide-before = تصمیم پیش از { $when } ({ $relative })
card-source = رکورد مبدأ
card-what-goes-out = آنچه فرستاده می‌شود
card-what-it-was = موضوع این بود
card-no-effects = چیزی فرستاده نمی‌شود: این تأیید اثری ندارد.
card-exact = محتوای دقیق، همان‌گونه که فرستاده می‌شود
card-impact-high = اهمیت زیاد
card-impact-normal = اهمیت معمولی
card-impact-low = اهمیت کم
card-window = { $span } پس از تأیید فرستاده می‌شود؛ تا آن زمان می‌توان آن را لغو کرد.
card-why-asked = چرا از یک انسان پرسیده می‌شود
card-why-was-asked = چرا از یک انسان پرسیده شد
card-your-decision = تصمیم شما
card-note = یادداشت
card-note-hint = اختیاری، در دفتر ثبت می‌آید
card-reason = دلیل
card-reason-hint = برای رد کردن لازم است
card-approve = تأیید و ارسال
card-reject = رد
card-withdraw = پس گرفتن
card-back = بازگشت به تأیید
card-decisions = تصمیم‌ها
card-decision-approved = تأیید کرد
card-decision-rejected = رد کرد
card-decision-edited = ویرایش کرد
card-quorum = { $n } از { $of } تأیید
card-details = جزئیات
card-size = { $characters } نویسه، { $lines } سطر
card-rerun-title = اگر مشکلی پیش بیاید
card-rerun = تأیید، دقیقاً همین اثرها را یک بار در صف ارسال می‌گذارد. اگر پاسخی در راه گم شود، اثر «نامعلوم» نامیده می‌شود و با پرس‌وجو یا به دست یک انسان روشن می‌شود؛ هرگز کورکورانه دوباره فرستاده نمی‌شود. اجرای پایان‌یافته هرگز تکرار نمی‌شود: اصلاح، رویدادی تازه با کلید خودش است.
card-background = پیش‌زمینه
card-summary = خلاصه، به نوشتهٔ گردش کار
card-not-sent = بخشی از آنچه فرستاده می‌شود نیست.
card-output = آنچه مدل ساخته است
card-checks = اعتبارسنجی

# آنچه سد راه است
stop-not-asked = شما می‌توانید این را بخوانید، اما از شما خواسته نشده است تصمیم بگیرید.
stop-qualification = این تصمیم به صلاحیت { $names } نیاز دارد.
stop-decided-already = شما پیش‌تر تصمیم گرفته‌اید. در انتظار تصمیم دیگران هستیم.
stop-own-request = شما خودتان این را درخواست کرده‌اید، پس باید کس دیگری آن را تأیید کند. شما می‌توانید آن را رد کنید.
stop-changed-title = این همان چیزی نیست که دیدید
stop-changed = پس از آنکه شما این صفحه را باز کردید، آنچه باید فرستاده شود تغییر کرد. پیش از تصمیم دوباره آن را بخوانید.
stop-over-title = تصمیم شما پذیرفته نشد
stop-over = پس از پایان رسید. وضعیت کنونی در زیر آمده است.
stop-reason-title = یک نکتهٔ دیگر
stop-reason = برای رد کردن، دلیل را بنویسید.
stop-sign-in-title = برای دیدن وارد شوید
stop-sign-in = این پیوند فقط کارت را پیدا می‌کند. اینکه چه کسی می‌تواند آن را بخواند و تصمیم بگیرد به حساب کاربری بستگی دارد. باز کردن پیوند چیزی را تغییر نداد.
stop-outsider-title = برای این حساب نیست
stop-outsider = شما با نام { $name } وارد شده‌اید که از او خواسته نشده است تصمیم بگیرد.
stop-dead-link-title = این پیوند به جایی نمی‌رسد
stop-dead-link = شاید برنامهٔ ایمیل آن را بریده باشد یا دستی نوشته شده باشد. پیوند را کامل از پیام رونوشت کنید، یا وارد شوید و صندوق ورودی را ببینید.
stop-no-page-title = چنین صفحه‌ای وجود ندارد
stop-no-page = شاید نشانی اشتباه نوشته شده یا کامل رونوشت نشده باشد.
stop-foreign-form-title = پذیرفته نشد
stop-foreign-form = این فرم از صفحه‌ای از این بازدید نیامده است. پیوند یا صندوق ورودی را با اجازهٔ کوکی دوباره باز کنید و همان‌جا تصمیم بگیرید.
stop-nothing-decided = تصمیمی گرفته نشد.
stop-later = سرور در این لحظه نمی‌تواند پاسخ دهد. چیزی تغییر نکرد. یک دقیقهٔ دیگر دوباره تلاش کنید.

# ایمیل و گفت‌وگو
mail-subject-first = درخواست تصمیم: { $flow } { $key }
mail-subject-reminder = یادآوری: درخواست تصمیم: { $flow } { $key }
mail-subject-escalation = ارجاع: درخواست تصمیم: { $flow } { $key }
mail-subject-edited = تغییر کرد: درخواست تصمیم: { $flow } { $key }
mail-subject-closed = بدون تصمیم: { $flow } { $key }
mail-lead-first = از شما خواسته می‌شود پیش از { $when } ({ $relative }) تصمیم بگیرید.
mail-lead-reminder = همچنان منتظر تصمیم شما هستیم، پیش از { $when } ({ $relative }).
mail-lead-escalation = هنوز کسی تصمیم نگرفته است، پس از شما هم پرسیده می‌شود. پیش از { $when } ({ $relative }).
mail-lead-edited = آنچه باید فرستاده شود تغییر کرده است. لطفاً دربارهٔ این نسخه پیش از { $when } ({ $relative }) تصمیم بگیرید.
mail-lead-expired = تا { $when } کسی تصمیم نگرفت. چیزی فرستاده نشد. دیگر لازم نیست کاری انجام دهید.
mail-lead-undeliverable = تا { $when } به هیچ‌کس خبر نرسید و کسی تصمیم نگرفت. چیزی فرستاده نشد. دیگر لازم نیست کاری انجام دهید.
mail-open = باز کردن تأیید
mail-flow = جریان
mail-key = کلید
mail-why = چرا از شما پرسیده می‌شود
mail-effect = { $kind } به { $target }، از راه { $provider }
mail-impact-high = اهمیت زیاد
mail-cut = […اینجا بریده شد؛ کارت همه را نشان می‌دهد]
mail-more-effects = { $n ->
        [one] … و { $n } اثر دیگر، روی کارت
       *[other] … و { $n } اثر دیگر، روی کارت
    }
mail-foot = باز کردن پیوند چیزی را تغییر نمی‌دهد. تنها دکمه‌های صفحه تصمیم را ثبت می‌کنند.
mail-for-you = این پیام برای { $who } است. پیوند شخصی است: آن را برای کسی نفرستید.
mark-blanks = { $n ->
        [one] { $n } فاصله
       *[other] { $n } فاصله
    }
mark-blank-lines = { $n ->
        [one] { $n } سطر خالی
       *[other] { $n } سطر خالی
    }
alert-subject = هشدار Effectgate: { $alert }
alert-more = بیشتر
alert-server = سرور

# The pages' frame, and pages of lists
frame-menu = منو
frame-renewed = این صفحه به‌روز شد.
page-first = صفحهٔ نخست

# The inbox's lines
inbox-waiting = { $span } در انتظار
inbox-you-decided = شما تصمیم گرفته‌اید؛ در انتظار دیگران
inbox-late = دیر شده
inbox-all-flows = همهٔ جریان‌ها
inbox-show = نمایش
inbox-empty-mine = چیزی به نام شما در انتظار نیست.
inbox-empty-roles = چیزی در انتظار نقش‌های شما نیست.
inbox-empty-all = چیزی در انتظار هیچ‌کس نیست.
inbox-empty-flow = تنها یک جریان نشان داده می‌شود.

# What became of it
outcome-withdrawn-by = { $who } آن را پس گرفت، { $when }. چیزی فرستاده نشد.
sent-none = اثری ندارد.
sent-part = انجام شد: { $n } از { $of }.

# The card's parts
card-deadline = تصمیم پیش از
card-run = باز کردن اجرا
card-source-plain = نشانی وب نیست
card-edited = ویرایش شده
card-edits = آنچه تغییر داده شد
card-changed-since = آنچه از هنگام باز کردن صفحه تغییر کرده است
card-now = اکنون
effect-scheduled = زمان‌بندی‌شده
effect-pending = در صف ارسال
effect-sending = در حال ارسال
effect-unknown = نامعلوم
effect-review = در بررسی یک انسان
effect-completed = انجام‌شده
effect-failed = ناموفق
effect-cancelled = لغوشده
card-known-as = شناسه در آنجا
card-whole-text = متن کامل، پیمایش‌پذیر
card-provider-mail = سرور ایمیل؛ ایمیل فرستاده‌شده را نمی‌توان پس گرفت
card-provider-enforcing = کلید ما را رعایت می‌کند: درخواست تکراری یک بار انجام می‌شود
card-provider-advisory = در آنجا چیزی جلوی انجام دوباره را نمی‌گیرد
card-provider-gone = دیگر در پیکربندی نیست: در انتظار می‌ماند
card-held = ارسال خاموش است: آنچه تأیید شود منتظر می‌ماند و پس از روشن شدن دوبارهٔ کلید فرستاده می‌شود.
card-decider = ثبت می‌شود با نام
card-decider-by-link = با این پیوند و بدون ورود، ثبت می‌شود با نام
card-by-link = با پیوند
card-required = لازم
card-people = کسانی که از آن‌ها پرسیده شد
card-wants = { $n ->
        [one] هنوز { $n } تأیید لازم است.
       *[other] هنوز { $n } تأیید لازم است.
    }
card-wants-non-editor = این تأیید باید از کسی باشد که چیزی را ویرایش نکرده است.
card-superseded = مربوط به نسخهٔ پیشین؛ به شمار نمی‌آید
card-withdraw-title = پس گرفتن پرسش
card-withdraw-hint = اجرا پایان می‌یابد و چیزی فرستاده نمی‌شود.
card-cancel-title = لغو این اثر
card-cancel-submit = لغو اثر
card-output-hint = خام، برای مقایسه؛ آنچه فرستاده می‌شود در بالا آمده است.
card-no-output = نگه داشته نشده یا وجود نداشته است.

# The clock
sla-title = زمان پاسخ
sla-left = { $span } مانده از { $of }
sla-late = { $span } دیرکرد، از { $of }
sla-stops = ساعت هنگام تصمیم‌گیری می‌ایستد
sla-runs = ساعت هنگام تصمیم‌گیری می‌گذرد

# The card's details
fact-model = مدل
fact-model-revision = نسخهٔ مدل
fact-prompt-revision = نسخهٔ پرامپت
fact-model-provider = ارائه‌دهندهٔ مدل
fact-iterations = تکرارهای عامل
fact-asked-by = درخواست‌کننده
fact-qualification = صلاحیت لازم
fact-run = اجرا
fact-flow-revision = نسخهٔ جریان

# What validation found
check-fits = خروجی با طرح‌وارهٔ جریان سازگار است.
check-no-output = خروجی مدل وجود نداشته یا دیگر نگه داشته نمی‌شود.
check-no-schema = جریان طرح‌واره‌ای برای خروجی ندارد.
check-effects = هر اثر از بررسی‌های نوع و ارائه‌دهندهٔ خود گذشته است.
check-extracted = JSON از متن پیرامون جدا شد؛ چیزی در آن تغییر نکرد.
check-repairs = { $n ->
        [one] پس از خروجی نامعتبر { $n } بار دوباره از مدل پرسیده شد.
       *[other] پس از خروجی نامعتبر { $n } بار دوباره از مدل پرسیده شد.
    }
check-finish = مدل با «{ $reason }» پایان داد.

# What an edit changed
change-added = افزوده
change-removed = حذف‌شده
change-changed = تغییرکرده
change-before = پیش از این
change-after = پس از این

# Edit and approve
edit-title = ویرایش و تأیید
edit-effect = اثر { $n }
edit-intro = شما آنچه را فرستاده می‌شود تغییر می‌دهید، نه مقصد را. با دکمه نسخهٔ تازه را تأیید می‌کنید؛ تغییر در کارت نشان داده می‌شود.
edit-needs-another = کسی که چیزی را ویرایش نکرده نیز باید تأیید کند.
edit-submit = تأیید با این تغییرها
edit-one-per-line = هر مورد در یک سطر.
edit-raw = JSON، همان‌گونه که فرستاده می‌شود.
edit-fixed = تغییرناپذیر
edit-hidden = این متن نویسه‌هایی دارد که اینجا دیده نمی‌شوند. کارت آن‌ها را نام می‌برد.
edit-whole = محتوا
edit-not-given = داده نشده
edit-errors-title = این فیلدها را بررسی کنید
edit-errors = تصمیمی گرفته نشد. آنچه نوشته‌اید هنوز اینجاست.
edit-missing = این لازم است.
edit-bad-number = این عدد نیست. آن را به شکل 1234.50 بنویسید.
edit-bad-json = این JSON نیست: { $detail }
edit-nothing = شما چیزی را تغییر ندادید. اگر با همین موافقید، روی کارت تأیید کنید.
edit-too-many = این مورد بیش از اندازه ویرایش شده است. آن را رد کنید تا دوباره پیشنهاد شود.
edit-changed-meanwhile = پس از آنکه صفحه را باز کردید، کسی آنچه را فرستاده می‌شود تغییر داد. تصمیمی گرفته نشد. تغییرها در پایین آمده و آنچه نوشته‌اید در فرم مانده است.

# What a page says instead
stop-asks = جریان { $flow } پیش از { $when } تصمیمی می‌خواهد.
stop-asked = جریان { $flow } تصمیمی خواسته بود. این درخواست پایان یافته است: { $state }.
stop-other-account = خارج شوید و با حسابی که از آن پرسیده شده وارد شوید. تصمیمی گرفته نشد.
stop-disabled-title = این حساب غیرفعال است
stop-disabled = حسابی که این پیوند برای آن صادر شده است دیگر به کار نمی‌رود. یکی دیگر از کسانی که از آن‌ها پرسیده شده است می‌تواند تصمیم بگیرد.
stop-gone-title = چنین تأییدی وجود ندارد
stop-gone = وجود ندارد یا مدت‌ها پس از پایانش حذف شده است.
stop-problem-title = انجام نشد
stop-later-title = در این لحظه ممکن نیست
stop-many-title = تلاش‌های بیش از حد
stop-many = پیش از تلاش بعدی کمی صبر کنید.
stop-media = تنها فرم صفحه تصمیم می‌گیرد؛ کدگذاری‌های دیگر پذیرفته نمی‌شوند.
stop-uncertain-title = هنوز روشن نیست
stop-uncertain = پایگاه داده هنگام نوشتن از دسترس خارج شد. صفحه را دوباره باز کنید: نشان می‌دهد نوشته شده یا نه. تصمیم دوباره زیانی ندارد.
stop-reason-too-long = دلیل بیش از اندازه بلند است: حداکثر ۲٬۰۰۰ نویسه.
stop-reason-wanted = دلیل لازم است. چیزی تغییر نکرد.
stop-too-late-title = دیر شده است
stop-too-late = دیگر نمی‌توان آن را لغو کرد. وضعیت کنونی در زیر آمده است.
stop-kept = این صفحه از بازدیدی پیشین بود، پس تصمیمی گرفته نشد. آنچه نوشتید هنوز اینجاست: آن را ببینید و دکمه را دوباره بزنید. اگر باز هم پیش آمد، کوکی‌ها را مجاز کنید.
stop-ended-title = در این میان خارج شده‌اید
stop-ended = نشست شما هنگام نوشتن پایان یافت. تصمیمی گرفته نشد و این صفحه آنچه را نوشتید نگه می‌دارد. در زبانه‌ای تازه وارد شوید، به اینجا برگردید و ادامه دهید.
stop-ended-sign-in = ورود (زبانهٔ تازه)
stop-ended-go-on = وارد شدم: ادامه
login-with = ورود با { $name }
login-local = ورود با حسابی از این سرور
login-nobody = اکنون کسی نمی‌تواند وارد شود: حساب‌های محلی خاموش‌اند و سرویس ورودی پیکربندی نشده است.
sign-on-over-title = این ورود به پایان رسیده است
sign-on-over = بیش از اندازه طول کشید، پیش‌تر انجام شده یا در مرورگر دیگری آغاز شده است. دکمهٔ بازگشت، نشانک این صفحه یا خاموش بودن کوکی‌ها سبب آن می‌شود. چیزی تغییر نکرد.
sign-on-away-title = سرویس ورود پاسخ نمی‌دهد
sign-on-away = موضوع میان این سرور و سرویس ورود سازمان شماست و به حساب شما ربطی ندارد. یک دقیقهٔ دیگر دوباره تلاش کنید.
sign-on-role-title = شما اینجا نقشی ندارید
sign-on-role = سازمان شما شما را می‌شناسد، اما هیچ‌یک از گروه‌های شما نقشی در این سرور ندارد؛ پس وارد نشدید. از اداره‌کنندهٔ سرور نقشی بخواهید.
sign-on-refused-title = شما وارد نشدید
sign-on-refused = چیزی تغییر نکرد. دوباره تلاش کنید؛ اگر باز هم رخ داد، این دلیل را به اداره‌کنندهٔ سرور بگویید: { $reason }
sign-on-still = شما همچنان با نام { $name } وارد هستید.
sign-on-again = ورود دوباره
sign-out-title = شما از اینجا خارج شدید
sign-out-there = اکنون خروج از { $name } انجام می‌شود.
sign-out-on = ادامه

# صفحهٔ خود
me-who = شما اینجا چه کسی هستید
me-identity = شناسه
me-signed-in-with = ورود با
me-mail = نشانی ایمیل
me-roles = نقش‌ها
me-no-roles = هیچ: کارت‌هایی را می‌بینید که از شما پرسیده می‌شود
me-account = حسابی در همین سرور
me-single-sign-on = ورود یکپارچه
me-language-and-zone = زبان و منطقهٔ زمانی
me-language = زبان کارت‌ها، ایمیل‌ها و پیام‌ها
me-browser-language = همان که مرورگر می‌گوید
me-zone = منطقهٔ زمانی
me-save = ذخیره
me-saved = ذخیره شد.
me-sessions = نشست‌ها
me-device-unknown = برنامه یا مرورگر ناشناخته
me-this-one = همین
me-session-times = ورود: { $created }، آخرین استفاده: { $seen }، پایان در صورت استفاده نشدن: { $expires }.
me-sign-out-everywhere = خروج از همه جا
me-this-too = این نشست هم پایان می‌یابد.
me-password = گذرواژه
me-password-old = گذرواژهٔ کنونی
me-password-new = گذرواژهٔ تازه، دست‌کم ۱۲ نویسه
me-password-hint = چند واژهٔ خودتان بهترین است؛ علامت و رقم لازم نیست. نشست‌های دیگر شما پایان می‌یابند.
me-password-change = تغییر گذرواژه
