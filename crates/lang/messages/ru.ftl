# Промежутки времени
span-days = { $n ->
        [one] { $n } день
        [few] { $n } дня
       *[many] { $n } дней
    }
span-hours = { $n ->
        [one] { $n } час
        [few] { $n } часа
       *[many] { $n } часов
    }
span-minutes = { $n ->
        [one] { $n } минута
        [few] { $n } минуты
       *[many] { $n } минут
    }
span-seconds = { $n ->
        [one] { $n } секунда
        [few] { $n } секунды
       *[many] { $n } секунд
    }
from-days = { $n ->
        [one] { $n } день
        [few] { $n } дня
       *[many] { $n } дней
    }
from-hours = { $n ->
        [one] { $n } час
        [few] { $n } часа
       *[many] { $n } часов
    }
from-minutes = { $n ->
        [one] { $n } минуту
        [few] { $n } минуты
       *[many] { $n } минут
    }
from-seconds = { $n ->
        [one] { $n } секунду
        [few] { $n } секунды
       *[many] { $n } секунд
    }
span-two = { $large } { $small }
relative-in = через { $span }
relative-ago = { $span } назад
relative-now = сейчас

# Рамка страницы
nav-skip = Перейти к содержанию
nav-main = Главное меню
nav-inbox = Входящие
nav-runs = Запуски
nav-effects = Действия
nav-review = Разбор
nav-switches = Выключатели
nav-metrics = Показатели
nav-journal = Журнал
nav-replays = Повторы
nav-settings = Настройки
nav-me = Мои настройки
nav-sign-in = Войти
nav-sign-out = Выйти

# Вход
login-title = Вход
login-user = Имя пользователя
login-password = Пароль
login-submit = Войти
login-already = Вы вошли как { $name }. Новый вход завершит этот сеанс.
login-to-inbox = Ко входящим
login-refused = Неверное имя пользователя или пароль.
login-wait = Слишком много попыток. До следующей попытки: { $span }.

# Входящие
inbox-title = Ожидают Вашего решения
inbox-mine = Мои
inbox-my-roles = Мои роли
inbox-all = Все
inbox-order = Порядок
inbox-by-risk = По риску
inbox-by-age = По давности
inbox-by-due = По сроку
inbox-more-effects = { $n ->
        [one] и ещё { $n } действие
        [few] и ещё { $n } действия
       *[many] и ещё { $n } действий
    }
inbox-undeliverable = Никого не удалось уведомить
page-next = Следующая страница

# Состояние одобрения
outcome-open = Ожидает решения
outcome-approved = Одобрено
outcome-rejected = Отклонено
outcome-expired = Срок истёк
outcome-withdrawn = Отозвано
outcome-undeliverable = Не доставлено
outcome-approved-text = Решение: { $who }, { $when }.
outcome-rejected-text = Решение: { $who }, { $when }. Ничего не отправлено и не будет отправлено.
outcome-expired-text = До { $when } никто не принял решения. Ничего не отправлено, и эта ссылка больше ничего не решает.
outcome-withdrawn-text = Отозвано { $when }. Решать больше нечего.
outcome-undeliverable-text = До { $when } никого не удалось уведомить. Ничего не отправлено.

# Карточка
card-title = Запрос на одобрение
card-decide-before = Решить до { $when } ({ $relative })
card-source = Исходная запись
card-what-goes-out = Что будет отправлено
card-what-it-was = О чём шла речь
card-no-effects = Ничего не отправляется: в этом запросе нет действий.
card-exact = Точное содержимое, как оно уйдёт
card-impact-high = Высокая значимость
card-impact-normal = Обычная значимость
card-impact-low = Низкая значимость
card-window = Отправка не сразу после одобрения ({ $span }); до этого её можно отменить.
card-why-asked = Почему решает человек
card-why-was-asked = Почему решал человек
card-your-decision = Ваше решение
card-note = Примечание
card-note-hint = необязательно, попадёт в журнал
card-reason = Причина
card-reason-hint = обязательна при отклонении
card-approve = Одобрить и отправить
card-reject = Отклонить
card-withdraw = Отозвать
card-back = Назад к запросу
card-decisions = Решения
card-decision-approved = одобрено
card-decision-rejected = отклонено
card-decision-edited = изменено
card-quorum = Одобрений: { $n } из { $of }
card-details = Подробности
card-size = { $characters ->
        [one] { $characters } символ
        [few] { $characters } символа
       *[many] { $characters } символов
    }, { $lines ->
        [one] { $lines } строка
        [few] { $lines } строки
       *[many] { $lines } строк
    }
card-rerun-title = Если что-то пойдёт не так
card-rerun = Одобрение помещает ровно эти действия в очередь отправки, один раз. Если ответ потеряется в пути, исход действия считается неизвестным: его проверят запросом или решит человек; вслепую оно никогда не отправляется повторно. Завершённый запуск никогда не повторяется: исправление — это новое событие с собственным ключом.
card-background = Справка
card-summary = Сводка, как её составил рабочий процесс
card-not-sent = Не входит в то, что отправляется.
card-output = Что выдала модель
card-checks = Проверки

# Что мешает решению
stop-not-asked = Вы можете это прочитать, но Вас не просили принимать решение.
stop-qualification = Для этого решения нужна квалификация { $names }.
stop-decided-already = Вы уже приняли решение. Ожидаются решения других.
stop-own-request = Вы сами это запросили, поэтому одобрить должен кто-то другой. Отклонить Вы можете.
stop-changed-title = Это не то, что Вы видели
stop-changed = После того как Вы открыли страницу, кто-то изменил то, что будет отправлено. Прочитайте заново, прежде чем решать.
stop-over-title = Ваше решение не принято
stop-over = Оно пришло после завершения. Ниже показано, как обстоит дело сейчас.
stop-reason-title = Ещё одно
stop-reason = Чтобы отклонить, укажите причину.
stop-sign-in-title = Войдите, чтобы это увидеть
stop-sign-in = Ссылка только находит карточку. Кто может читать и решать, зависит от учётной записи. Открытие ссылки ничего не изменило.
stop-outsider-title = Не для этой учётной записи
stop-outsider = Вы вошли как { $name }. Этого пользователя не просили принимать решение.
stop-dead-link-title = Эта ссылка никуда не ведёт
stop-dead-link = Возможно, её обрезала почтовая программа или её набрали вручную. Скопируйте ссылку из сообщения целиком или войдите и откройте входящие.
stop-no-page-title = Такой страницы нет
stop-no-page = Возможно, адрес набран с ошибкой или скопирован не целиком.
stop-foreign-form-title = Не принято
stop-foreign-form = Эта форма пришла не со страницы этого посещения. Откройте ссылку или входящие заново, разрешив файлы cookie, и примите решение там.
stop-nothing-decided = Решение не принято.
stop-later = Сервер сейчас не может ответить. Ничего не изменено. Повторите через минуту.

# Почта и чат
mail-subject-first = Нужно решение: { $flow } { $key }
mail-subject-reminder = Напоминание: нужно решение: { $flow } { $key }
mail-subject-escalation = Эскалация: нужно решение: { $flow } { $key }
mail-subject-edited = Изменено: нужно решение: { $flow } { $key }
mail-subject-closed = Решения нет: { $flow } { $key }
mail-lead-first = Вас просят принять решение до { $when } ({ $relative }).
mail-lead-reminder = Ваше решение всё ещё нужно, до { $when } ({ $relative }).
mail-lead-escalation = Решения пока нет, поэтому теперь просят и Вас. До { $when } ({ $relative }).
mail-lead-edited = Кто-то изменил то, что будет отправлено. Нужно Ваше решение об этой версии, до { $when } ({ $relative }).
mail-lead-expired = До { $when } никто не принял решения. Ничего не отправлено. Делать больше ничего не нужно.
mail-lead-undeliverable = До { $when } никого не удалось уведомить, поэтому решения нет. Ничего не отправлено. Делать больше ничего не нужно.
mail-open = Открыть запрос
mail-flow = Процесс
mail-key = Ключ
mail-why = Почему Вас спрашивают
mail-effect = { $kind } для { $target }, через { $provider }
mail-impact-high = Высокая значимость
mail-cut = […здесь обрезано; карточка показывает всё]
mail-more-effects = { $n ->
        [one] … и ещё { $n } действие, на карточке
        [few] … и ещё { $n } действия, на карточке
       *[many] … и ещё { $n } действий, на карточке
    }
mail-foot = Открытие ссылки ничего не меняет. Решают только кнопки на странице.
mail-for-you = Это сообщение для { $who }. Ссылка личная: не пересылайте её.
mark-blanks = { $n ->
        [one] { $n } пробел
        [few] { $n } пробела
       *[many] { $n } пробелов
    }
mark-blank-lines = { $n ->
        [one] { $n } пустая строка
        [few] { $n } пустые строки
       *[many] { $n } пустых строк
    }
alert-subject = Тревога Effectgate: { $alert }
alert-more = Подробнее
alert-server = Сервер

# The pages' frame, and pages of lists
frame-menu = Меню
frame-renewed = Страница обновлена.
page-first = Первая страница

# The inbox's lines
inbox-waiting = Время ожидания: { $span }
inbox-you-decided = Вы приняли решение; ожидаются решения других
inbox-late = Просрочено
inbox-all-flows = Все процессы
inbox-show = Показать
inbox-empty-mine = Лично от Вас решений не ждут.
inbox-empty-roles = От Ваших ролей решений не ждут.
inbox-empty-all = Решений не ждут ни от кого.
inbox-empty-flow = Показан только один процесс.

# What became of it
outcome-withdrawn-by = Отозвано: { $who }, { $when }. Ничего не отправлено.
sent-none = Действий нет.
sent-part = Выполнено: { $n } из { $of }.

# The card's parts
card-deadline = Решить до
card-run = Открыть запуск
card-source-plain = не веб-адрес
card-edited = Изменено
card-edits = Что изменили люди
card-changed-since = Что изменилось с тех пор, как Вы открыли страницу
card-now = Сейчас
effect-scheduled = запланировано
effect-pending = ждёт отправки
effect-sending = отправляется
effect-unknown = неизвестно
effect-review = на разборе у человека
effect-completed = выполнено
effect-failed = не удалось
effect-cancelled = отменено
card-known-as = известно там как
card-whole-text = Весь текст, прокручивается
card-provider-mail = почтовый сервер; отправленное письмо не вернуть
card-provider-enforcing = учитывает наш ключ: повторный запрос выполняется один раз
card-provider-advisory = там ничто не мешает повторному выполнению
card-provider-gone = больше нет в настройках: действие будет ждать
card-held = Отправка отключена: одобренное ждёт и уйдёт, когда её снова включат.
card-decider = В журнале будет указано
card-decider-by-link = По этой ссылке, без входа, в журнале будет указано
card-by-link = по ссылке
card-required = обязательно
card-people = Кого просят решить
card-wants = { $n ->
        [one] Нужно ещё { $n } одобрение.
        [few] Нужно ещё { $n } одобрения.
       *[many] Нужно ещё { $n } одобрений.
    }
card-wants-non-editor = Оно должно быть от того, кто ничего не менял.
card-superseded = относится к прежней версии; не считается
card-withdraw-title = Отозвать запрос
card-withdraw-hint = Запуск завершится, и ничего не будет отправлено.
card-cancel-title = Отменить это действие
card-cancel-submit = Отменить действие
card-output-hint = Как есть, для сравнения; отправляется то, что выше.
card-no-output = Не сохранилось, или ничего не было.

# The clock
sla-title = Срок на ответ
sla-left = осталось { $span }, всего { $of }
sla-late = просрочка { $span }, всего { $of }
sla-stops = часы стоят, пока люди решают
sla-runs = часы идут, пока люди решают

# The card's details
fact-model = Модель
fact-model-revision = Ревизия модели
fact-prompt-revision = Ревизия промпта
fact-model-provider = Поставщик модели
fact-iterations = Итерации агента
fact-asked-by = Кто запросил
fact-qualification = Нужная квалификация
fact-run = Запуск
fact-flow-revision = Ревизия процесса

# What validation found
check-fits = Ответ модели соответствует схеме процесса.
check-no-output = Ответа модели не было, или он больше не хранится.
check-no-schema = У процесса нет схемы для ответа модели.
check-effects = Каждое действие прошло проверки своего типа и поставщика.
check-extracted = JSON извлечён из окружающего текста; ничего в нём не изменено.
check-repairs = { $n ->
        [one] После неверного ответа модель спросили ещё { $n } раз.
        [few] После неверного ответа модель спросили ещё { $n } раза.
       *[many] После неверного ответа модель спросили ещё { $n } раз.
    }
check-finish = Модель завершила ответ с пометкой «{ $reason }».

# What an edit changed
change-added = добавлено
change-removed = удалено
change-changed = изменено
change-before = Было
change-after = Стало

# Edit and approve
edit-title = Изменить и одобрить
edit-effect = Действие { $n }
edit-intro = Вы меняете то, что отправляется, но не то, куда. Этой кнопкой Вы одобряете новую версию; изменение будет видно на карточке.
edit-needs-another = Одобрить должен и тот, кто ничего не менял.
edit-submit = Одобрить с этими изменениями
edit-one-per-line = По одному значению в строке.
edit-raw = JSON, как он уйдёт.
edit-fixed = нельзя изменить
edit-hidden = В тексте есть знаки, которых здесь не видно. Карточка их называет.
edit-whole = Содержимое
edit-not-given = не указано
edit-errors-title = Проверьте эти поля
edit-errors = Решение не принято. То, что Вы ввели, сохранилось.
edit-missing = Это поле обязательно.
edit-bad-number = Это не число. Пишите как 1234.50.
edit-bad-json = Это не JSON: { $detail }
edit-nothing = Вы ничего не изменили. Чтобы согласиться как есть, одобрите на карточке.
edit-too-many = Это изменяли слишком много раз. Отклоните, чтобы предложение составили заново.
edit-changed-meanwhile = После того как Вы открыли страницу, кто-то изменил то, что будет отправлено. Решение не принято. Изменения перечислены ниже; то, что Вы ввели, осталось в форме.

# What a page says instead
stop-asks = Процесс { $flow } просит решения до { $when }.
stop-asked = Процесс { $flow } просил решения. Это завершено: { $state }.
stop-other-account = Выйдите и войдите с той учётной записью, которую просили решить. Решение не принято.
stop-disabled-title = Учётная запись отключена
stop-disabled = Учётная запись, которой выдана эта ссылка, больше не используется. Решить может кто-то другой из тех, кого просили.
stop-gone-title = Такого запроса нет
stop-gone = Его нет, или его запись удалили спустя долгое время после завершения.
stop-problem-title = Не получилось
stop-later-title = Не сейчас
stop-many-title = Слишком много попыток
stop-many = Подождите немного перед следующей попыткой.
stop-media = Решает только форма на странице; другие кодировки отклоняются.
stop-uncertain-title = Пока неизвестно
stop-uncertain = Связь с базой данных пропала во время записи. Откройте страницу снова: она покажет, записано ли решение. Повторное решение не повредит.
stop-reason-too-long = Причина слишком длинная: не более 2 000 знаков.
stop-reason-wanted = Нужна причина. Ничего не изменено.
stop-too-late-title = Слишком поздно
stop-too-late = Отменить уже нельзя. Ниже показано, как обстоит дело сейчас.
stop-kept = Страница осталась от прошлого посещения, поэтому решение не принято. То, что Вы ввели, сохранилось: проверьте и нажмите кнопку ещё раз. Если это повторится, разрешите файлы cookie.
stop-ended-title = Сеанс завершился
stop-ended = Ваш сеанс завершился, пока Вы писали. Решение не принято, и эта страница хранит то, что Вы ввели. Войдите в новой вкладке, вернитесь сюда и продолжите.
stop-ended-sign-in = Войти (в новой вкладке)
stop-ended-go-on = Вход выполнен: продолжить
login-with = Войти через { $name }
login-local = Войти с учётной записью этого сервера
login-nobody = Сейчас войти нельзя: местные учётные записи отключены, служба входа не настроена.
sign-on-over-title = Этот вход уже завершён
sign-on-over = Он занял слишком много времени, уже выполнен или был начат в другом браузере. Так бывает из-за кнопки «Назад», закладки на эту страницу или отключённых cookie. Ничего не изменилось.
sign-on-away-title = Служба входа не отвечает
sign-on-away = Дело в связи между этим сервером и службой входа Вашей организации, а не в Вашей учётной записи. Повторите через минуту.
sign-on-role-title = У Вас здесь нет роли
sign-on-role = Ваша организация Вас знает, но ни одна из Ваших групп не имеет роли на этом сервере, поэтому вход не выполнен. Попросите роль у тех, кто им управляет.
sign-on-refused-title = Вход не выполнен
sign-on-refused = Ничего не изменилось. Попробуйте ещё раз; если повторится, сообщите эту причину тем, кто управляет сервером: { $reason }
sign-on-still = Вы по-прежнему вошли как { $name }.
sign-on-again = Войти снова
sign-out-title = Здесь Вы вышли
sign-out-there = Теперь выполняется выход из { $name }.
sign-out-on = Продолжить

# Своя страница
me-who = Кто вы здесь
me-identity = Имя в журнале
me-signed-in-with = Вход через
me-mail = Адрес почты
me-roles = Роли
me-no-roles = нет: вы видите карточки, о которых вас спрашивают
me-account = учётная запись этого сервера
me-single-sign-on = единый вход
me-language-and-zone = Язык и часовой пояс
me-language = Язык карточек, писем и сообщений
me-browser-language = Как указано в браузере
me-zone = Часовой пояс
me-save = Сохранить
me-saved = Сохранено.
me-sessions = Сеансы
me-device-unknown = Программа или неизвестный браузер
me-this-one = этот
me-session-times = Вход: { $created }, последнее действие: { $seen }, без действий закончится: { $expires }.
me-sign-out-everywhere = Выйти на всех устройствах
me-this-too = Этот сеанс тоже закончится.
me-password = Пароль
me-password-old = Нынешний
me-password-new = Новый, не короче 12 знаков
me-password-hint = Лучше всего несколько своих слов; знаки и цифры не обязательны. Другие ваши сеансы закончатся.
me-password-change = Сменить пароль
